// The colours and symbols of all drawings, including the page.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "sim/app/experiment/config.hpp"
#include "sim/app/report/charts/svg.hpp"

namespace thinwire::report {

/// The shades of each colour on white and on the dark page.
template <std::size_t kCount>
using Shades = std::array<std::array<const char*, kCount>, 2>;

/// The colours of series and of parts of bars: one for each of the series that a report shows at
/// first. With the symbols they distinguish 80 series.
inline constexpr Shades<10> kColours{{{"#2a78d6", "#d9580d", "#008300", "#c0408a", "#b07800",
                                       "#4a3aa7", "#0e8f8f", "#cf2f2f", "#6b6f76", "#6b4226"},
                                      {"#5a9bea", "#e8793a", "#4aa84a", "#df74b0", "#cf9a2a",
                                       "#9b8ff0", "#35b3b0", "#ec6d6d", "#a7adb5", "#c49a7c"}}};
/// The colours of shares: below the first step, from it to the second, and so on.
inline constexpr std::array<double, 5> kHeatSteps{0.05, 0.2, 0.4, 0.6, 0.8};
inline constexpr Shades<6> kHeat{
    {{"#b9cbe0", "#8fb3dc", "#e8b04a", "#e57f2e", "#d1432b", "#8c1028"},
     {"#3b4a5c", "#4d7099", "#b98d3c", "#d57f3a", "#e8604a", "#ff9aa6"}}};

[[nodiscard]] std::string colour_of(std::size_t series);
[[nodiscard]] std::string heat_of(double share);
/// The dashes of a solid line: none as long as the colours differ. Where they come again, one dot
/// between long dashes, then two.
[[nodiscard]] std::string dashes_of(std::size_t series);
/// A filled symbol centred at a point, in the colour of its series.
[[nodiscard]] std::string symbol_at(std::size_t series, double x, double y);
/// A white symbol on a cell of the colour of its series; none as long as the colours differ.
[[nodiscard]] std::string symbol_in_cell(std::size_t series, double x, double y);
/// The JSON that the page reads.
[[nodiscard]] Json palette_json();

}  // namespace thinwire::report
