// The colours and symbols of all drawings, including the page.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "sim/app/plan/config.hpp"
#include "sim/app/report/charts/svg.hpp"

namespace thinwire::report {

/// The shades of each colour on white and on the dark page.
template <std::size_t kCount>
using Shades = std::array<std::array<const char*, kCount>, 2>;

/// The colours of series: one for each of the series that a report shows at first. Together with the
/// symbols they distinguish 80 series. Any two are at least 20 apart in CIELAB, also with protanopia,
/// deuteranopia or tritanopia as Machado et al. (2009) simulate them.
inline constexpr Shades<10> kColours{{{"#ec5b13", "#370b8e", "#2ea1b8", "#8e0b0b", "#9b89f5",
                                       "#555555", "#a413ec", "#db8270", "#310647", "#470611"},
                                      {"#f5ad89", "#99a6e6", "#a1e9f7", "#f4719d", "#8e4b9b",
                                       "#64760a", "#c813ec", "#49bd0f", "#0a7640", "#ecec13"}}};
/// The colours of parts of bars, such as phases. None is a colour of a series, so that no part is taken
/// for a series. Any two are as far apart as two colours of series.
inline constexpr Shades<8> kPartColours{
    {{"#3789e7", "#f2c772", "#7b917c", "#a3cec6", "#bd851c", "#a480ab", "#30d6f8", "#efecb7"},
     {"#8591f9", "#eac251", "#9d620a", "#4ef7be", "#ab1147", "#9a78aa", "#f5806f", "#4e4ba0"}}};
/// The colours of shares: below the first step, from it to the second, and so on.
inline constexpr std::array<double, 5> kHeatSteps{0.05, 0.2, 0.4, 0.6, 0.8};
inline constexpr Shades<6> kHeat{
    {{"#b9cbe0", "#8fb3dc", "#e8b04a", "#e57f2e", "#d1432b", "#8c1028"},
     {"#3b4a5c", "#4d7099", "#b98d3c", "#d57f3a", "#e8604a", "#ff9aa6"}}};

[[nodiscard]] std::string colour_of(std::size_t series);
/// The look of a part of a bar; beyond the eighth the colours repeat, paler.
[[nodiscard]] std::string look_of_part(std::size_t part);
[[nodiscard]] std::string heat_of(double share);
/// The dashes of a solid line: none as long as the colours differ. Where they come again, one dot
/// between long dashes, then two.
[[nodiscard]] std::string dashes_of(std::size_t series);
/// The symbol of a series: 0, circle; 1, square; 2, triangle; 3, diamond; 4, plus; 5, star; 6, triangle
/// upside down; 7, cross.
[[nodiscard]] std::size_t symbol_of(std::size_t series);
inline constexpr double kSymbolRadius = 3.9;
/// A filled symbol centred at a point, in the colour of its series.
[[nodiscard]] std::string symbol_at(std::size_t series, double x, double y,
                                    double radius = kSymbolRadius);
/// A white symbol on a cell of the colour of its series; none as long as the colours differ.
[[nodiscard]] std::string symbol_in_cell(std::size_t series, double x, double y);
/// The JSON that the page reads.
[[nodiscard]] Json palette_json();

}  // namespace thinwire::report
