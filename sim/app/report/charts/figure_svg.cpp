#include "sim/app/report/charts/figure_svg.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::report {

namespace {

constexpr std::array<std::pair<FigureKind, const char*>, 6> kNames{
    {{FigureKind::time, "time"},
     {FigureKind::volume, "volume"},
     {FigureKind::breakdown, "breakdown"},
     {FigureKind::congestion, "congestion"},
     {FigureKind::crossover, "crossover"},
     {FigureKind::links, "links"}}};

Figure figure_of(FigureKind kind, const Figures& figures, const std::vector<LinkMap>& links) {
  switch (kind) {
    case FigureKind::time:
      return time_figure(figures);
    case FigureKind::volume:
      return volume_figure(figures);
    case FigureKind::breakdown:
      return breakdown_figure(figures);
    case FigureKind::congestion:
      return congestion_figure(figures);
    case FigureKind::crossover:
      return crossover_figure(figures);
    case FigureKind::links:
      break;
  }
  return links_figure(links);
}

}  // namespace

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kNames) names.emplace_back(name);
  return names;
}

FigureKind figure_named(const std::string& name) {
  for (const auto& [kind, known] : kNames) {
    if (name == known) return kind;
  }
  throw InputError(
      fmt::format("--figure: unknown figure '{}'{}; there are time, volume, breakdown, "
                  "congestion, crossover and links",
                  name, did_you_mean(name, figure_names())));
}

std::string figure_svg(FigureKind kind, const Figures& figures, const std::vector<LinkMap>& links,
                       const FigureStyle& style) {
  return svg_of(figure_of(kind, figures, links), style);
}

}  // namespace thinwire::report
