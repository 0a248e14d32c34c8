// The colours and symbols of all drawings, the page's as well.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "sim/app/experiment/config.hpp"
#include "sim/app/report/charts/svg.hpp"

namespace thinwire::report {

/// On white, and on the dark page.
struct Colour {
  const char* light;
  const char* dark;
};

/// Of series, and of the parts of bars. With the symbols they tell 64 series apart.
inline constexpr std::array<Colour, 8> kColours{{{"#2a78d6", "#5a9bea"},
                                                 {"#d9580d", "#e8793a"},
                                                 {"#008300", "#4aa84a"},
                                                 {"#c0408a", "#df74b0"},
                                                 {"#b07800", "#cf9a2a"},
                                                 {"#4a3aa7", "#9b8ff0"},
                                                 {"#0e8f8f", "#35b3b0"},
                                                 {"#cf2f2f", "#ec6d6d"}}};
/// Of shares: below the first step, from it to the second, and so on.
inline constexpr std::array<double, 5> kHeatSteps{0.05, 0.2, 0.4, 0.6, 0.8};
inline constexpr std::array<Colour, 6> kHeat{{{"#b9cbe0", "#3b4a5c"},
                                              {"#8fb3dc", "#4d7099"},
                                              {"#e8b04a", "#b98d3c"},
                                              {"#e57f2e", "#d57f3a"},
                                              {"#d1432b", "#e8604a"},
                                              {"#8c1028", "#ff9aa6"}}};

[[nodiscard]] std::string colour_of(std::size_t series);
[[nodiscard]] std::string heat_of(double share);
/// A filled symbol about a point.
[[nodiscard]] std::string symbol_at(std::size_t series, double x, double y);
/// As the page reads it.
[[nodiscard]] Json palette_json();

}  // namespace thinwire::report
