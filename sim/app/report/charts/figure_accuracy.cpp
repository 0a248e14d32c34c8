// Draws accuracy on held-out data over simulated time, and over iterations.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

std::string percent_text(double value) { return number_words(100 * value) + "%"; }

template <class Take>
void for_each_point(const std::vector<Json>& curves, const char* key, Take take) {
  for (const Json& curve : curves) {
    for (const Json& point : curve.at("points")) take(point.at(key).get<double>());
  }
}

Axis x_axis_of(const std::vector<Json>& curves, const char* key) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for_each_point(curves, key, [&](double value) {
    if (value > 0) low = std::min(low, value);
    high = std::max(high, value);
  });
  if (key == std::string("iteration")) return linear_axis("iteration", 0, high);
  if (high <= 0) low = high = 1;
  Axis axis = log_axis("simulated time", low / 1.05, high * 1.05);
  axis.text = seconds_text;
  return axis;
}

}  // namespace

Figure accuracy_figure(const std::vector<Json>& records) {
  const std::vector<Json> curves = of_kind(records, "training_curve");
  if (curves.empty()) {
    throw InputError(
        "report: no training is among the results; give lines of 'thinwire-train -o', or "
        "trainings.jsonl of tools/training_study");
  }
  std::vector<std::string> labels;
  for (const Json& curve : curves) {
    const std::string label = curve.at("label");
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  double most = 0;
  for_each_point(curves, "accuracy", [&](double value) { most = std::max(most, value); });
  Axis y = linear_axis("accuracy on held-out data", 0, std::max(most, 0.01), true);
  y.text = percent_text;
  y.grid = true;
  Figure figure{.notes = {"means over seeds"}};
  const auto add_panel = [&](const std::string& title, const std::vector<Json>& shown,
                             const char* key) {
    std::vector<Series> all;
    for (const Json& curve : shown) {
      const std::string label = curve.at("label");
      Series& series = all.emplace_back(Series{
          .index = static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin())});
      for (const Json& point : curve.at("points")) {
        series.line.emplace_back(point.at(key).get<double>(), point.at("accuracy").get<double>());
      }
    }
    constexpr double kHeight = 280;
    figure.panels.push_back(chart_panel(title, x_axis_of(shown, key), y, std::move(all), kHeight));
  };
  std::set<std::string> drawn;
  for (const Json& first : curves) {
    const std::string setting = first.at("setting");
    if (!drawn.insert(setting).second) continue;
    const auto where = [&](const std::string& place) {
      std::vector<Json> found;
      for (const Json& curve : curves) {
        if (curve.at("setting") == setting && curve.at("place") == place) found.push_back(curve);
      }
      return found;
    };
    std::set<std::string> places;
    for (const Json& curve : curves) {
      const std::string place = curve.at("place");
      if (curve.at("setting") != setting || !places.insert(place).second) continue;
      add_panel(fmt::format("{}: {}", setting, place), where(place), "time_s");
    }
    add_panel(setting, where(first.at("place")), "iteration");
  }
  for (std::size_t label = 0; label < labels.size(); ++label) {
    figure.legend.push_back(legend_of({.index = label, .line = {{0, 0}}}, labels[label]));
  }
  return figure;
}

}  // namespace thinwire::report
