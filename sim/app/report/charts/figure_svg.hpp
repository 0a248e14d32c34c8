// Draws single figures as SVG, for papers: the same content as on the page, in one drawing, with a
// panel for each place, setting and density.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/charts/chart.hpp"
#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/charts/link_map.hpp"

namespace thinwire::report {

/// The names of all figures, as --figure takes them.
[[nodiscard]] std::vector<std::string> figure_names();

/// Throws InputError if there is no such figure, with the nearest name, and if the results contain
/// nothing to show in it. `validation` are the records of the figures measured and accuracy, and the
/// claims of the figure of that name.
[[nodiscard]] std::string figure_svg(const std::string& name, const Figures& figures,
                                     const std::vector<LinkMap>& links,
                                     const FigureStyle& style = {},
                                     const std::vector<Json>& validation = {});
/// How many of the schemes a figure shows; empty if all.
[[nodiscard]] std::string note_of_leading(const Figures& figures);
/// The same as a Python program, for figures of curves; throws InputError for others.
[[nodiscard]] std::string figure_python(const std::string& name, const Figures& figures,
                                        const FigureStyle& style = {},
                                        const std::vector<Json>& validation = {});

}  // namespace thinwire::report
