#include "sim/app/report/charts/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace thinwire::report {

namespace {

/// Corners repeated so many times around the origin, scaled to the area of a circle of radius 1.
Points around(const Points& corners, int times, double turn = 0) {
  Points all;
  for (int i = 0; i < times; ++i) {
    const double angle = turn + 2 * std::numbers::pi * i / times;
    for (const auto& [x, y] : corners) {
      all.emplace_back(x * std::cos(angle) - y * std::sin(angle),
                       x * std::sin(angle) + y * std::cos(angle));
    }
  }
  double area = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [x, y] = all[(i + 1) % all.size()];
    area += (all[i].first * y - x * all[i].second) / 2;
  }
  const double scale = std::sqrt(std::numbers::pi / std::abs(area));
  for (auto& [x, y] : all) {
    x *= scale;
    y *= scale;
  }
  return all;
}

/// Filled all of them; the one without corners is the circle.
const std::vector<Points>& symbols() {
  constexpr double kHalf = std::numbers::pi / 4;
  static const Points kArm{{-0.38, -1}, {0.38, -1}, {0.38, -0.38}};
  static const std::vector<Points> kAll{
      {},
      around({{0, -1}}, 4, kHalf),
      around({{0, -1}}, 3),
      around({{0, -1}}, 4),
      around(kArm, 4),
      around({{0, -1}, {0.25, -0.34}}, 5),
      around({{0, -1}}, 3, std::numbers::pi),
      around(kArm, 4, kHalf),
  };
  return kAll;
}

}  // namespace

std::string colour_of(std::size_t series) { return kColours.at(series % kColours.size()).light; }

std::string heat_of(double share) {
  const auto step =
      std::ranges::count_if(kHeatSteps, [share](double least) { return share >= least; });
  return kHeat.at(static_cast<std::size_t>(step)).light;
}

std::string symbol_at(std::size_t series, double x, double y) {
  constexpr double kRadius = 3.9;
  const std::string look =
      fmt::format(R"(fill="{}" stroke="white" stroke-width="0.7")", colour_of(series));
  Points corners = symbols().at((series + series / kColours.size()) % symbols().size());
  if (corners.empty()) return circle_at(x, y, kRadius, look);
  for (auto& corner : corners) corner = {x + kRadius * corner.first, y + kRadius * corner.second};
  return path_of(corners, look, true);
}

Json palette_json() {
  const auto shades = [](const auto& colours) {
    Json all = Json::array();
    for (const Colour& colour : colours) all.push_back(Json::array({colour.light, colour.dark}));
    return all;
  };
  return {{"series", shades(kColours)},
          {"heat", shades(kHeat)},
          {"heat_steps", kHeatSteps},
          {"symbols", symbols()}};
}

}  // namespace thinwire::report
