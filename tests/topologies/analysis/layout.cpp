#include "topologies/analysis/layout.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/generators/family.hpp"

namespace thinwire::topologies {

namespace {

/// "VERTICES vertices, DIFFERENT places, ROWS rows" of a family's platform; all in the square.
std::string layout_text(const std::string& name, const std::map<std::string, std::string>& given) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("p.xml", make_platform(family(name), given, ""));
  return test::on_platform(path, [](const Platform& platform) {
    const PlatformGraph graph = graph_of(routes_of(platform));
    const std::vector<Position> positions = layout_of(graph);
    std::set<std::pair<long, long>> places;
    std::set<long> rows;
    for (const Position& position : positions) {
      const auto in = [](double v) { return v >= 0 && v <= 1; };
      if (!in(position.x) || !in(position.y)) return std::string("outside");
      places.emplace(std::lround(position.x * 1e6), std::lround(position.y * 1e6));
      rows.insert(std::lround(position.y * 1e6));
    }
    return fmt::format("{} vertices, {} places, {} rows", positions.size(), places.size(),
                       rows.size());
  });
}

}  // namespace

TEST_CASE("a tree is drawn in a row a level, switches inside of nodes below") {
  CHECK(layout_text("fat_tree", {{"hosts", "64"}}).ends_with("3 rows"));
  CHECK(layout_text("nvlink_ib", {{"nodes", "4"}}).ends_with(" rows"));
}

TEST_CASE("no two hosts or switches are drawn on each other") {
  for (const auto& [name, given] : std::map<std::string, std::map<std::string, std::string>>{
           {"star", {{"hosts", "7"}}},
           {"fat_tree", {{"hosts", "64"}}},
           {"nvlink_ib", {{"nodes", "4"}}},
           {"dragonfly", {{"hosts", "512"}}}}) {
    CAPTURE(name);
    const std::string text = layout_text(name, given);
    const auto number_before = [&](const std::string& word) {
      const std::size_t end = text.find(" " + word);
      REQUIRE(end != std::string::npos);
      const std::size_t begin = text.rfind(' ', end - 1);
      return text.substr(begin == std::string::npos ? 0 : begin + 1,
                         end - (begin == std::string::npos ? 0 : begin + 1));
    };
    CHECK(number_before("vertices") == number_before("places"));
  }
}

}  // namespace thinwire::topologies
