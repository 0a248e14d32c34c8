// Single figures as SVG, for papers: the same content as the page's, all of it in one drawing, a
// panel for each place, setting and density.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/app/report/charts/chart.hpp"
#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/charts/link_map.hpp"

namespace thinwire::report {

enum class FigureKind : std::uint8_t { time, volume, breakdown, congestion, crossover, links };

/// All of them, as --figure names them.
[[nodiscard]] std::vector<std::string> figure_names();
/// Throws InputError with the nearest name.
[[nodiscard]] FigureKind figure_named(const std::string& name);

/// Throws InputError where nothing of the results is in such a figure.
[[nodiscard]] std::string figure_svg(FigureKind kind, const Figures& figures,
                                     const std::vector<LinkMap>& links,
                                     const FigureStyle& style = {});

}  // namespace thinwire::report
