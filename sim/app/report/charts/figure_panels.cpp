#include "sim/app/report/charts/figure_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace thinwire::report {

std::string title_of(const PanelKey& key, const Figures& figures) {
  std::set<double> densities;
  for (const Curve& curve : figures.curves) {
    if (curve.density) densities.insert(*curve.density);
  }
  std::string title = figures.places.at(key.place);
  const std::string& setting = figures.settings.at(key.setting);
  if (!setting.empty()) title += "; " + setting;
  if (densities.size() > 1 && key.density) title += fmt::format("; density {}", *key.density);
  return title;
}

Panels by_panel(const Figures& figures, const PointFilter& shown) {
  std::map<std::pair<std::size_t, std::size_t>, std::set<double>> densities;
  const auto shows = [&](const Curve& curve) { return std::ranges::any_of(curve.points, shown); };
  for (const Curve& curve : figures.curves) {
    if (curve.density && shows(curve)) {
      densities[{curve.setting, curve.place}].insert(*curve.density);
    }
  }
  Panels panels;
  for (const Curve& curve : figures.curves) {
    if (!shows(curve)) continue;
    const auto found = densities.find({curve.setting, curve.place});
    if (curve.density || found == densities.end()) {
      panels[{curve.setting, curve.place, curve.density}].push_back(&curve);
      continue;
    }
    for (const double density : found->second) {
      panels[{curve.setting, curve.place, density}].push_back(&curve);
    }
  }
  return panels;
}

std::vector<const CurvePoint*> points_of(const Panels& panels, const PointFilter& shown) {
  std::vector<const CurvePoint*> points;
  for (const auto& [key, curves] : panels) {
    for (const Curve* curve : curves) {
      for (const CurvePoint& point : curve->points) {
        if (shown(point)) points.push_back(&point);
      }
    }
  }
  return points;
}

std::string seconds_text(double value) {
  for (const auto& [unit, factor] : {std::pair{"s", 1.0}, {"ms", 1e-3}, {"µs", 1e-6}}) {
    if (value >= factor * 0.9995) return fmt::format("{:.4g} {}", value / factor, unit);
  }
  return value == 0 ? "0 s" : fmt::format("{:.4g} ns", value / 1e-9);
}

std::string square_mark(const std::string& look) { return rect_at(-5, -5, 10, 10, look); }

}  // namespace thinwire::report
