// Draws the papers' numbers beside the simulated ones: open and filled marks on one axis.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

constexpr const char* kHolds = "#1b6ca8";
constexpr const char* kMisses = "#b3312c";
constexpr const char* kOpen = R"(fill="none" stroke="#222" stroke-width="1.4")";

struct PairOfMarks {
  std::string name;
  double paper = 0;
  double simulated = 0;
  std::string colour;
  std::string text;
};

std::string filled(const std::string& colour) { return fmt::format(R"(fill="{}")", colour); }

/// The marks of a claim's record, if it has two positive numbers.
std::optional<PairOfMarks> marks_of(const Json& claim) {
  const auto number = [&](const char* key) {
    return claim.contains(key) && claim.at(key).is_number() ? claim.at(key).get<double>() : 0.0;
  };
  PairOfMarks marks{.name = claim.at("what").get<std::string>(),
                    .paper = number("paper"),
                    .simulated = number("simulated"),
                    .colour = claim.at("verdict") == "holds" ? kHolds : kMisses,
                    .text = {}};
  if (!(marks.paper > 0 && marks.simulated > 0)) return std::nullopt;
  if (claim.at("basis") == "calibrated") marks.name += " *";
  const std::string unit = claim.value("unit", "");
  marks.text = fmt::format("{:.3g} / {:.3g}{}{}", marks.simulated, marks.paper,
                           unit.empty() ? "" : " ", unit);
  return marks;
}

Drawing rows_of(const std::vector<PairOfMarks>& rows, double width) {
  constexpr double kRow = 20;
  std::vector<std::string> names;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  double right = 0;
  for (const PairOfMarks& row : rows) {
    names.push_back(row.name);
    low = std::min({low, row.paper, row.simulated});
    high = std::max({high, row.paper, row.simulated});
    right = std::max(right, text_width(row.text));
  }
  Axis x = log_axis("", low / 1.15, high * 1.15);
  x.grid = true;
  Axis y = rows_axis(names);
  Drawing drawing;
  add_axes(drawing, x, y, width, kRow * static_cast<double>(rows.size()) + 28, right + 8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PairOfMarks& row = rows[i];
    const double at = y(static_cast<double>(i));
    drawing.body += path_of({{x(row.paper), at}, {x(row.simulated), at}},
                            fmt::format(R"(stroke="{}" stroke-opacity="0.5")", row.colour));
    drawing.body += circle_at(x(row.simulated), at, 4, filled(row.colour));
    drawing.body += circle_at(x(row.paper), at, 5.5, kOpen);
    drawing.body += text_at(width - right, at + 4, row.text);
  }
  return drawing;
}

}  // namespace

Figure claims_figure(const std::vector<Json>& claims) {
  std::vector<std::pair<std::string, std::vector<PairOfMarks>>> panels;
  for (const Json& claim : claims) {
    const std::optional<PairOfMarks> marks = marks_of(claim);
    if (!marks) continue;
    const std::string title = claim.at("source").get<std::string>();
    if (panels.empty() || panels.back().first != title) panels.push_back({title, {}});
    panels.back().second.push_back(*marks);
  }
  if (panels.empty()) {
    throw InputError(
        "report: no claim with numbers is among the results; give claims.jsonl of "
        "'thinwire claims -o'");
  }
  Figure figure{.legend = {{circle_at(0, 0, 5.5, kOpen), "the paper"},
                           {circle_at(0, 0, 4, filled(kHolds)), "simulated, holds"},
                           {circle_at(0, 0, 4, filled(kMisses)), "simulated, misses"}},
                .notes = {"simulated / paper; *: calibrated by it"},
                .panels = {},
                .panel_width = 860};
  for (auto& [title, rows] : panels) {
    figure.panels.push_back({title, [rows = std::move(rows)](double width, double /*height*/) {
                               return rows_of(rows, width);
                             }});
  }
  return figure;
}

}  // namespace thinwire::report
