#include "sim/app/report/charts/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace thinwire::report {

namespace {

/// Repeats corners `times` times around the origin.
Points around(const Points& corners, int times, double turn = 0) {
  Points all;
  for (int i = 0; i < times; ++i) {
    const double angle = turn + 2 * std::numbers::pi * i / times;
    for (const auto& [x, y] : corners) {
      all.emplace_back(x * std::cos(angle) - y * std::sin(angle),
                       x * std::sin(angle) + y * std::cos(angle));
    }
  }
  return all;
}

/// The filled symbols, about as large as a circle of radius 1, which is the one without corners.
const std::array<Points, 8>& symbols() {
  constexpr double kHalf = std::numbers::pi / 4;
  static const Points kArm{{-0.45, -1.2}, {0.45, -1.2}, {0.45, -0.45}};
  static const std::array<Points, 8> kAll{Points{},
                                          around({{0, -1.25}}, 4, kHalf),
                                          around({{0, -1.45}}, 3),
                                          around({{0, -1.3}}, 4),
                                          around(kArm, 4),
                                          around({{0, -1.5}, {0.38, -0.52}}, 5),
                                          around({{0, 1.45}}, 3),
                                          around(kArm, 4, kHalf)};
  return kAll;
}

std::string drawn_symbol(std::size_t series, double x, double y, double radius,
                         const std::string& look) {
  Points corners = symbols().at(symbol_of(series));
  if (corners.empty()) return circle_at(x, y, radius, look);
  for (auto& corner : corners) corner = {x + radius * corner.first, y + radius * corner.second};
  return path_of(corners, look, true);
}

}  // namespace

std::size_t symbol_of(std::size_t series) {
  return (series + series / kColours[0].size()) % symbols().size();
}

std::string colour_of(std::size_t series) { return kColours[0].at(series % kColours[0].size()); }

std::string look_of_part(std::size_t part) {
  return fmt::format(R"(fill="{}"{})", kPartColours[0].at(part % kPartColours[0].size()),
                     part < kPartColours[0].size() ? "" : R"( fill-opacity="0.55")");
}

std::string heat_of(double share) {
  const auto step =
      std::ranges::count_if(kHeatSteps, [share](double least) { return share >= least; });
  return kHeat[0].at(static_cast<std::size_t>(step));
}

std::string symbol_at(std::size_t series, double x, double y, double radius) {
  return drawn_symbol(
      series, x, y, radius,
      fmt::format(R"(fill="{}" stroke="white" stroke-width="0.7")", colour_of(series)));
}

std::string symbol_in_cell(std::size_t series, double x, double y) {
  if (series < kColours[0].size()) return "";
  return drawn_symbol(series, x, y, 2.8, R"(fill="white")");
}

std::string dashes_of(std::size_t series) {
  std::string dashes = series < kColours[0].size() ? "" : "9 2";
  for (std::size_t i = 0; i < series / kColours[0].size(); ++i) dashes += " 1.5 2";
  return dashes;
}

Json palette_json() {
  return {{"series", kColours},
          {"parts", kPartColours},
          {"heat", kHeat},
          {"heat_steps", kHeatSteps},
          {"symbols", symbols()}};
}

}  // namespace thinwire::report
