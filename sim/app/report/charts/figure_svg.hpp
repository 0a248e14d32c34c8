// Single figures as SVG, for papers: the same content as the page's, all of it in one drawing, a
// panel for each place, setting and density.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/charts/chart.hpp"
#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/charts/link_map.hpp"

namespace thinwire::report {

/// All of them, as --figure names them.
[[nodiscard]] std::vector<std::string> figure_names();

/// Throws InputError where there is no such figure, with the nearest name, and where nothing of the
/// results is in it.
[[nodiscard]] std::string figure_svg(const std::string& name, const Figures& figures,
                                     const std::vector<LinkMap>& links,
                                     const FigureStyle& style = {});

}  // namespace thinwire::report
