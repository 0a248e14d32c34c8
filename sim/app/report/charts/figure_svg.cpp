#include "sim/app/report/charts/figure_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::report {

namespace {

using Maps = std::vector<LinkMap>;

using Records = std::vector<Json>;
using Draw = Figure (*)(const Figures&, const Maps&, const Records&);

const std::array<std::pair<const char*, Draw>, 9> kFigures{
    {{"time",
      [](const Figures& figures, const Maps&, const Records&) { return time_figure(figures); }},
     {"volume",
      [](const Figures& figures, const Maps&, const Records&) { return volume_figure(figures); }},
     {"breakdown", [](const Figures& figures, const Maps&,
                      const Records&) { return breakdown_figure(figures); }},
     {"congestion", [](const Figures& figures, const Maps&,
                       const Records&) { return congestion_figure(figures); }},
     {"crossover", [](const Figures& figures, const Maps&,
                      const Records&) { return crossover_figure(figures); }},
     {"links", [](const Figures&, const Maps& maps, const Records&) { return links_figure(maps); }},
     {"measured",
      [](const Figures&, const Maps&, const Records& all) { return measured_figure(all); }},
     {"accuracy",
      [](const Figures&, const Maps&, const Records& all) { return accuracy_figure(all); }},
     {"claims",
      [](const Figures&, const Maps&, const Records& all) { return claims_figure(all); }}}};

}  // namespace

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const auto& [name, draw] : kFigures) names.emplace_back(name);
  return names;
}

namespace {

Figure figure_of(const std::string& name, const Figures& figures, const Maps& links,
                 const Records& validation) {
  for (const auto& [known, draw] : kFigures) {
    if (name == known) return draw(figures, links, validation);
  }
  throw InputError("--figure: unknown figure '{}'{}", excerpt(name),
                   did_you_mean(name, figure_names()));
}

}  // namespace

std::string figure_svg(const std::string& name, const Figures& figures,
                       const std::vector<LinkMap>& links, const FigureStyle& style,
                       const std::vector<Json>& validation) {
  return svg_of(figure_of(name, figures, links, validation), style);
}

std::string figure_python(const std::string& name, const Figures& figures, const FigureStyle& style,
                          const std::vector<Json>& validation) {
  if (name == "links") {
    throw InputError(
        "--format py: link maps cannot be written as Python; time, volume, congestion, "
        "measured and accuracy can");
  }
  return matplotlib_of(figure_of(name, figures, {}, validation), style);
}

Figures leading_alone(Figures figures) {
  std::erase_if(figures.curves, [&](const Curve& curve) {
    return !figures.leading.empty() &&
           std::ranges::find(figures.leading, curve.label) == figures.leading.end();
  });
  return figures;
}

std::string note_of_leading(const Figures& figures) {
  if (figures.leading.empty() || figures.leading.size() == figures.labels.size()) return "";
  return fmt::format("the {} fastest of {} schemes", figures.leading.size(), figures.labels.size());
}

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

std::string square_mark(const std::string& look) { return rect_at(-5, -5, 10, 10, look); }

}  // namespace thinwire::report
