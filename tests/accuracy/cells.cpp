#include "tools/accuracy/cells.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "algorithms/registry.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/switches.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::accuracy {

namespace {

Cell cell(const std::string& pattern, int ranks, const std::string& size) {
  return {.pattern = pattern, .platform = "gige_star", .ranks = ranks, .size = size};
}

Side alphabeta() { return {.network = "alphabeta", .settings = Json::object()}; }

}  // namespace

TEST_CASE("The table has every pattern and scheme, on five platforms, four P and four sizes") {
  const std::vector<Cell> cells = cells_of(all_axes());
  CHECK(cells.size() == (7 + test::schemes_without_switches().size()) * 5 * 4 * 4);
  CHECK(std::set<Cell>(cells.begin(), cells.end()).size() == cells.size());
  for (const char* pattern : {"ring", "recursive_doubling", "rotated_1", "rotated_4", "rotated_16",
                              "random_permutation", "incast", "oktopk", "dense_rabenseifner"}) {
    for (const char* platform :
         {"aries_daint", "fat_tree_1to1", "fat_tree_4to1", "nvlink_ib", "gige_star"}) {
      for (const int ranks : {16, 64, 256, 512}) {
        for (const char* size : {"1kB", "64kB", "4MB", "unequal"}) {
          const Cell wanted{.pattern = pattern, .platform = platform, .ranks = ranks, .size = size};
          CHECK(std::ranges::find(cells, wanted) != cells.end());
        }
      }
    }
  }
}

TEST_CASE("Cells come in the order of the axes, and go through JSON") {
  Axes axes;
  axes.patterns = {"ring", "topka"};
  axes.platforms = {"gige_star"};
  axes.ranks = {3};
  axes.sizes = {"1kB", "unequal"};
  axes.placement = "random:7";
  const std::vector<Cell> cells = cells_of(axes);
  REQUIRE(cells.size() == 4);
  CHECK(name_of(cells[0]) == "ring on gige_star, 3 ranks, 1kB, placement random:7");
  CHECK(name_of(cells[3]) == "topka on gige_star, 3 ranks, unequal, placement random:7");
  for (const Cell& one : cells) CHECK(cell_from(to_json(one)) == one);
}

TEST_CASE("Axes with names that nobody knows are refused with the nearest one") {
  const auto check = [](void (*change)(Axes&), const char* what) {
    Axes axes = all_axes();
    change(axes);
    CHECK_THROWS_WITH_AS(check_axes(axes), doctest::Contains(what), InputError);
  };
  check([](Axes& axes) { axes.patterns = {"rotated_3"}; }, "unknown pattern 'rotated_3'");
  check([](Axes& axes) { axes.patterns = {"oktop"}; }, "did you mean 'oktopk'?");
  check([](Axes& axes) { axes.platforms = {"fat_tree"}; }, "unknown platform");
  check([](Axes& axes) { axes.sizes = {"2kB"}; }, "unknown size '2kB'");
  check([](Axes& axes) { axes.ranks = {0}; }, "0 ranks");
  check([](Axes& axes) { axes.placement = "blok"; }, "blok");
  CHECK_NOTHROW(check_axes(all_axes()));
}

TEST_CASE("What cannot be compared is left out with its reason") {
  CHECK(restriction_of(cell("dense_ring", 16, "unequal")) ==
        "a dense gradient's parts are all equal");
  CHECK_FALSE(restriction_of(cell("dense_ring", 16, "4MB")));
  CHECK_FALSE(restriction_of(cell("oktopk", 16, "unequal")));
  CHECK_FALSE(restriction_of(cell("ring", 1, "unequal")));
}

TEST_CASE("A scheme's size is the size of a dense gradient, or of what a rank selects") {
  const plan::Point dense = point_of(cell("dense_ring", 16, "64kB"), alphabeta(), "gige_star");
  CHECK(dense.space.components == 16'000);
  const plan::Point sparse = point_of(cell("topka", 16, "64kB"), alphabeta(), "gige_star");
  CHECK(sparse.k == 8'000);
  CHECK(sparse.space.components == 800'000);
  CHECK(sparse.iterations == 1);
  CHECK(sparse.input.skew == 0);
  const plan::Point skewed = point_of(cell("topka", 16, "unequal"), alphabeta(), "gige_star");
  CHECK(skewed.k == 8'000);
  CHECK(skewed.input.skew > 0);
  // What is carried stands for more where it would be too much, and regions keep some entries.
  for (const int ranks : {16, 64, 256, 512}) {
    const plan::Point large = point_of(cell("topka", ranks, "4MB"), alphabeta(), "gige_star");
    CHECK(large.k <= 500'000);
    CHECK(large.k > 499'000);
    CHECK(large.k / large.space.granule * ranks <= 10'000'000);
    CHECK(large.k / large.space.granule >= 4 * ranks);
  }
}

TEST_CASE("Settings of a side reach its point, and wrong ones are refused") {
  Side side{.network = "smpi", .settings = {{"time_resolution_s", 1e-6}}};
  CHECK(point_of(cell("ring", 16, "1kB"), side, "gige_star").time_resolution == Seconds(1e-6));
  CHECK(point_of(cell("ring", 16, "1kB"), {}, "gige_star").time_resolution == Seconds(0));
  CHECK(point_of(cell("ring", 16, "1kB"), {}, "gige_star").flows_per_port == 0);
  side.settings = {{"chunk", 1}};
  CHECK_THROWS_AS(static_cast<void>(point_of(cell("ring", 16, "1kB"), side, "gige_star")),
                  InputError);
}

TEST_CASE("All platforms of the table have room for 512 ranks") {
  const test::TemporaryFolder folder;
  for (const auto& platform : write_platforms(folder.path("."))) {
    const std::string& path = platform.second;
    CAPTURE(path);
    ChildWork work{.subject = path};
    work.run = [&] { return std::to_string(topologies::Platform(path).hosts().size()); };
    CHECK(std::stoi(in_child_process(work).text) >= 512);
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(write_platforms(folder.path("none"))),
                       doctest::Contains("cannot be written"), InputError);
}

TEST_CASE("More messages in flight and unequal ones are expected to take longer") {
  const auto expected = [](const char* pattern, int ranks, const char* size) {
    const Cell one = cell(pattern, ranks, size);
    return expected_s(one, point_of(one, {}, "gige_star"));
  };
  CHECK(expected("rotated_16", 64, "1kB") > expected("rotated_1", 64, "1kB"));
  CHECK(expected("rotated_16", 64, "unequal") > expected("rotated_16", 64, "1kB"));
  CHECK(expected("ring", 512, "1kB") > expected("ring", 16, "1kB"));
  CHECK(expected("oktopk", 512, "1kB") > expected("oktopk", 16, "1kB"));
}

}  // namespace thinwire::accuracy
