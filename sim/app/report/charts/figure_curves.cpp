// Draws curves over the number of ranks: time, volume and congestion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

std::string words_text(double value) {
  for (const auto& [unit, factor] : {std::pair{"G", 1e9}, {"M", 1e6}, {"k", 1e3}}) {
    if (value >= factor) return fmt::format("{:.3g}{}", value / factor, unit);
  }
  return fmt::format("{:.3g}", value);
}

struct Quantity {
  const char* name;
  std::function<std::optional<double>(const CurvePoint&)> value;
  std::function<std::optional<ValueRange>(const CurvePoint&)> formula;
  std::function<std::string(double)> text;
  const char* note;
  const char* none;
  std::optional<double> rule = {};
};

/// The points with the formula's line and band; a second series joins points without a formula.
std::vector<Series> series_of(const Curve& curve, const Quantity& quantity,
                              const PointFilter& shown) {
  Series known{.index = curve.label};
  Series joined{.index = curve.label, .look = quantity.rule ? LineLook::faint : LineLook::dashed};
  for (const CurvePoint& point : curve.points) {
    if (!shown(point)) continue;
    const double value = *quantity.value(point);
    const auto formula = quantity.formula(point);
    known.marks.emplace_back(point.ranks, value);
    if (!formula || !(formula->first > 0)) {
      joined.line.emplace_back(point.ranks, value);
    } else if (formula->second > formula->first * (1 + 1e-9)) {
      known.low.emplace_back(point.ranks, formula->first);
      known.high.emplace_back(point.ranks, formula->second);
    } else {
      known.line.emplace_back(point.ranks, formula->first);
    }
  }
  return {joined, known};
}

Figure curves_figure(const Figures& all, const Quantity& quantity) {
  const Figures figures = leading_alone(all);
  const auto shown = [&](const CurvePoint& point) {
    const auto value = quantity.value(point);
    return value && *value > 0;
  };
  const Panels panels = by_panel(figures, shown);
  if (panels.empty()) throw InputError(quantity.none);
  std::set<int> ranks;  // one scale for all panels, so that they can be compared
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  const auto take = [&](double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  if (quantity.rule) take(*quantity.rule);
  for (const CurvePoint* point : points_of(panels, shown)) {
    ranks.insert(point->ranks);
    take(*quantity.value(*point));
    if (const auto formula = quantity.formula(*point)) {
      take(formula->first);
      take(formula->second);
    }
  }
  constexpr double kLinear = 8;  // the largest factor on a linear axis
  Axis y = quantity.rule && high < kLinear ? linear_axis(quantity.name, low, high, true)
                                           : log_axis(quantity.name, low / 1.15, high * 1.15);
  y.text = quantity.text;
  std::set<std::size_t> labels;
  Figure figure{.notes = {figures.common, note_of_leading(all), quantity.note}};
  std::size_t most = 0;
  for (const auto& [key, curves] : panels) most = std::max(most, curves.size());
  const double height = 280 + 8 * std::max(0.0, static_cast<double>(most) - 10);
  for (const auto& [key, curves] : panels) {
    std::vector<Series> series;
    for (const Curve* curve : curves) {
      labels.insert(curve->label);
      std::ranges::move(series_of(*curve, quantity, shown), std::back_inserter(series));
    }
    figure.panels.push_back(chart_panel(title_of(key, figures), ranks_axis(ranks), y,
                                        std::move(series), height, quantity.rule));
  }
  for (const std::size_t label : labels) {
    figure.legend.push_back(legend_of({.index = label}, figures.labels.at(label)));
  }
  name_single_panel(figure);
  return figure;
}

const char* const kTimes =
    "points: simulated means; lines: papers' formulas; bands: their intervals; dashed: no formula";
const char* const kWords =
    "points: simulated; lines: formulas; bands: their intervals; dashed: no formula";

}  // namespace

Figure time_figure(const Figures& figures) {
  return curves_figure(figures, {.name = "time",
                                 .value = &CurvePoint::time_s,
                                 .formula = &CurvePoint::formula_s,
                                 .text = seconds_text,
                                 .note = kTimes,
                                 .none = "report: no result has a time"});
}

Figure volume_figure(const Figures& figures) {
  return curves_figure(figures, {.name = "words of 4 bytes per rank",
                                 .value = &CurvePoint::words,
                                 .formula = &CurvePoint::formula_words,
                                 .text = words_text,
                                 .note = kWords,
                                 .none = "report: no result sent anything"});
}

Figure congestion_figure(const Figures& figures) {
  return curves_figure(
      figures, {.name = "congestion factor",
                .value = &CurvePoint::congestion_factor,
                .formula = [](const CurvePoint&) { return std::optional<ValueRange>(); },
                .text = number_words,
                .note = "",
                .none = "report: no result has a congestion factor; simulate with '--network links "
                        "--platform'",
                .rule = 1});
}

}  // namespace thinwire::report
