#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

/// A power of two of bytes as "64 KiB", any other number with three digits.
std::string bytes_text(double value) {
  for (const auto& [unit, factor] :
       {std::pair{"GiB", 1073741824.0}, {"MiB", 1048576}, {"KiB", 1024}}) {
    if (value >= factor) return fmt::format("{:.3g} {}", value / factor, unit);
  }
  return fmt::format("{:.3g} B", value);
}

double bytes_of(const Json& row) { return 4 * row.at("elements").get<double>(); }

/// The title of a row's panel: rows of the same one have the same.
std::string panel_of(const Json& row) {
  if (row.contains("panel")) return row.at("panel").get<std::string>();
  return fmt::format("{}, {}, {} ranks, {} {}, {}{}", row.at("machine").get<std::string>(),
                     row.at("collective").get<std::string>(), row.at("ranks").get<int>(),
                     row.at("run").get<std::string>(), row.at("test").get<std::string>(),
                     row.at("basis").get<std::string>(),
                     row.at("gpu").get<bool>() ? ", GPU buffers" : "");
}

/// The name of a row's series: rows that differ in more than their size have different ones.
std::string series_label(const Json& row) {
  std::string label = row.at("algorithm").get<std::string>();
  const auto number = [&](const char* key) {
    return row.contains(key) && row.at(key).is_number() ? row.at(key).get<double>() : 0;
  };
  if (number("segment") > 0) label += fmt::format(", {} segments", bytes_text(number("segment")));
  if (number("k") > 0) label += fmt::format(", k = {}", number("k"));
  return label;
}

/// What the panels of the figure share.
struct MeasuredExtent {
  double fewest = std::numeric_limits<double>::infinity();  ///< bytes
  double most = 0;
  double low = std::numeric_limits<double>::infinity();  ///< seconds
  double high = 0;
  std::vector<std::string> labels = {};
  std::vector<std::string> titles = {};

  explicit MeasuredExtent(const std::vector<Json>& rows) {
    for (const Json& row : rows) {
      fewest = std::min(fewest, bytes_of(row));
      most = std::max(most, bytes_of(row));
      for (const char* key : {"measured_s", "simulated_s", "formula_s"}) {
        if (!row.contains(key) || !row.at(key).is_number()) continue;
        low = std::min(low, row.at(key).get<double>());
        high = std::max(high, row.at(key).get<double>());
      }
      for (const auto& [texts, text] :
           {std::pair{&labels, series_label(row)}, {&titles, panel_of(row)}}) {
        if (std::ranges::find(*texts, text) == texts->end()) texts->push_back(text);
      }
    }
  }

  [[nodiscard]] Axis bytes_axis() const {
    Axis x = log_axis("bytes", fewest / 1.15, most * 1.15);
    x.marks.clear();
    for (double mark = 1; mark <= most; mark *= 32) {
      if (mark >= fewest) x.marks.push_back(mark);
    }
    if (x.marks.empty()) x.marks.push_back(fewest);
    x.text = bytes_text;
    return x;
  }

  /// The series of the panel, in the order of the labels.
  [[nodiscard]] std::vector<Series> series_of(const std::vector<Json>& rows,
                                              const std::string& title) const {
    std::map<std::size_t, Series> series;
    std::map<std::size_t, Series> formulas;
    for (const Json& row : rows) {
      if (panel_of(row) != title) continue;
      const auto label =
          static_cast<std::size_t>(std::ranges::find(labels, series_label(row)) - labels.begin());
      Series& one = series[label];
      one.index = label;
      one.marks.emplace_back(bytes_of(row), row.at("measured_s").get<double>());
      one.line.emplace_back(bytes_of(row), row.at("simulated_s").get<double>());
      if (!row.contains("formula_s") || !row.at("formula_s").is_number()) continue;
      Series& formula = formulas[label];
      formula.index = label;
      formula.look = LineLook::dashed;
      formula.line.emplace_back(bytes_of(row), row.at("formula_s").get<double>());
    }
    std::vector<Series> all;
    for (auto& [label, one] : series) {
      std::ranges::sort(one.marks);
      std::ranges::sort(one.line);
      if (one.line.size() == 1) {  // a dash where a line would have one point
        const auto [bytes, seconds] = one.line.front();
        one.line = {{bytes / 1.1, seconds}, {bytes * 1.1, seconds}};
      }
      all.push_back(std::move(one));
    }
    for (auto& [label, one] : formulas) {
      std::ranges::sort(one.line);
      all.push_back(std::move(one));
    }
    return all;
  }
};

}  // namespace

Figure measured_figure(const std::vector<Json>& validation) {
  const std::vector<Json> rows = of_kind(validation, "row");
  if (rows.empty()) {
    throw InputError(
        "report: nothing was measured and simulated; give the validation.jsonl of 'validate -o', "
        "or "
        "rows of 'measure -o' and of simulations of the same points");
  }
  const MeasuredExtent extent(rows);
  const Axis x = extent.bytes_axis();
  Axis y = log_axis("time", extent.low / 1.15, extent.high * 1.15);
  y.text = seconds_text;
  const bool formulas = std::ranges::any_of(rows, [](const Json& row) {
    return row.contains("formula_s") && row.at("formula_s").is_number();
  });
  Figure figure{.notes = {formulas ? "points: measured; lines: simulated; dashed: plain formula"
                                   : "points: measured; lines: simulated"}};
  for (const std::string& title : extent.titles) {
    constexpr double kHeight = 280;
    figure.panels.push_back(chart_panel(title, x, y, extent.series_of(rows, title), kHeight));
  }
  for (std::size_t label = 0; label < extent.labels.size(); ++label) {
    figure.legend.push_back(legend_of({.index = label}, extent.labels[label]));
  }
  return figure;
}

}  // namespace thinwire::report
