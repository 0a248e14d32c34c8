// Breaks time down into the phases of schemes or the parts of a training iteration.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/app/report/charts/palette.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

struct Bar {
  std::string name;
  CurvePoint point;
};

double sum_of(const CurvePoint& point) {
  return std::accumulate(point.parts.begin(), point.parts.end(), 0.0,
                         [](double sum, const TimePart& part) { return sum + part.time_s; });
}

std::string time_of(const CurvePoint& point) {
  return seconds_text(point.parts_time_s.value_or(sum_of(point)));
}

Drawing bars_of(const std::vector<Bar>& bars, double longest,
                const std::map<std::string, std::size_t>& parts, double width) {
  constexpr double kRow = 20;
  const bool shares = longest == 0;
  std::vector<std::string> names;
  double right = 0;
  for (const Bar& bar : bars) {
    names.push_back(bar.name);
    right = std::max(right, text_width(time_of(bar.point)));
  }
  Axis x = linear_axis("", 0, shares ? 1 : longest);
  x.text = [shares](double value) {
    return shares ? fmt::format("{:.0f}%", 100 * value) : seconds_text(value);
  };
  x.grid = true;
  Axis y = rows_axis(names);
  Drawing drawing;
  add_axes(drawing, x, y, width, kRow * static_cast<double>(bars.size()) + 28, right + 8);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const CurvePoint& point = bars[i].point;
    const double sum = sum_of(point);
    const double whole = shares && sum > 0 ? sum : 1;
    const double middle = y(static_cast<double>(i));
    double from = 0;
    for (const TimePart& part : point.parts) {
      const double to = from + part.time_s / whole;
      drawing.body += rect_at(x(from), middle - kRow / 2 + 2, x(to) - x(from), kRow - 4,
                              look_of_part(parts.at(part.name)));
      from = to;
    }
    drawing.body += text_at(x(from) + 5, middle + 4, time_of(point));
  }
  return drawing;
}

}  // namespace

Figure breakdown_figure(const Figures& figures) {
  const Figures leading = leading_alone(figures);
  const auto shown = [](const CurvePoint& point) { return !point.parts.empty(); };
  const Panels panels = by_panel(leading, shown);
  if (panels.empty()) throw InputError("report: no result has phases with a time");
  std::map<int, int> count;  // results per number of ranks
  for (const CurvePoint* point : points_of(panels, shown)) ++count[point->ranks];
  int ranks = 0;  // the largest P among those with the most results, as on the page
  int most = 0;
  for (const auto& [p, results] : count) {
    if (results < most) continue;
    ranks = p;
    most = results;
  }
  Figure figure;
  std::map<std::string, std::size_t> parts;
  double longest = 0;
  double shortest = std::numeric_limits<double>::infinity();
  const auto drawn = [&](const CurvePoint& point) { return shown(point) && point.ranks == ranks; };
  for (const CurvePoint* point : points_of(panels, drawn)) {
    for (const TimePart& part : point->parts) {
      const std::size_t index = parts.size();
      if (!parts.emplace(part.name, index).second) continue;
      figure.legend.push_back({square_mark(look_of_part(index)), part.name});
    }
    if (!(sum_of(*point) > 0)) continue;
    longest = std::max(longest, sum_of(*point));
    shortest = std::min(shortest, sum_of(*point));
  }
  if (longest > 30 * shortest) longest = 0;
  for (const auto& [key, curves] : panels) {
    std::vector<Bar> bars;
    for (const Curve* curve : curves) {
      for (const CurvePoint& point : curve->points) {
        if (drawn(point)) bars.push_back({leading.labels[curve->label], point});
      }
    }
    if (bars.empty()) continue;
    figure.panels.push_back(
        {fmt::format("{}; P = {}", title_of(key, leading), ranks),
         [=](double width, double /*height*/) { return bars_of(bars, longest, parts, width); }});
  }
  figure.notes = {leading.common, note_of_leading(figures),
                  longest == 0 ? "shares of the phases' sum; beside each bar its simulated time"
                               : "seconds; beside each bar its simulated time"};
  name_single_panel(figure);
  return figure;
}

}  // namespace thinwire::report
