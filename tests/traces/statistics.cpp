#include "traces/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/core/base/random.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traces.hpp"

namespace thinwire::traces {

using test::TemporaryFolder;

namespace {

SparseVector at(const std::vector<std::uint32_t>& coordinates) {
  std::vector<Entry> entries;
  for (const std::uint32_t coordinate : coordinates) entries.push_back({coordinate, 1});
  return SparseVector::checked(std::move(entries));
}

TraceWindow window_of(std::vector<SparseVector> selected) {
  TraceWindow window{
      .iteration = 1, .selected = std::move(selected), .thresholds = {}, .global_threshold = {}};
  window.thresholds.assign(window.selected.size(), 1);
  return window;
}

}  // namespace

TEST_CASE("unions are means of groups of consecutive ranks, and of all in the end") {
  // Ranks 0 and 1 agree, 2 and 3 are apart, 4 is left over for pairs and for fours.
  const TraceWindow window =
      window_of({at({1, 2}), at({1, 2}), at({3, 4}), at({5, 6}), at({1, 7})});
  const std::vector<UnionDensity> unions = union_densities(window, 10);
  REQUIRE(unions.size() == 4);
  CHECK(unions[0].ranks == 1);
  CHECK(unions[0].density == test::approx(0.2));
  CHECK(unions[1].ranks == 2);
  CHECK(unions[1].density == test::approx((0.2 + 0.4) / 2));
  CHECK(unions[2].ranks == 4);
  CHECK(unions[2].density == test::approx(0.6));
  CHECK(unions[3].ranks == 5);
  CHECK(unions[3].density == test::approx(0.7));
  CHECK(unions[0].independent == test::approx(0.2));
  CHECK(unions[3].independent == test::approx(1 - std::pow(0.8, 5)));

  CHECK(union_densities(window_of({at({0})}), 1).back().independent == 1);
  CHECK(union_densities(window_of({at({1}), at({2}), at({3}), at({4})}), 10).size() == 3);
}

TEST_CASE("the global top-k is of the sum of the ranks' selections") {
  TraceWindow window = window_of(
      {SparseVector::checked({{1, 2}, {5, -3}, {9, 4}}), SparseVector::checked({{1, 2}, {9, -4}})});
  const SparseVector top = global_top_k(window, 2);
  REQUIRE(top.size() == 2);
  CHECK(top.entries()[0] == Entry{1, 4});
  CHECK(top.entries()[1] == Entry{5, -3});
}

TEST_CASE("regions are of equal size, and imbalance is the fullest by the mean") {
  const SparseVector vector = at({0, 1, 2, 3, 5, 99});
  CHECK(region_counts(vector, 100, 4) == std::vector<std::int64_t>{5, 0, 0, 1});
  CHECK(region_counts(vector, 100, 50)[0] == 2);
  CHECK(imbalance({5, 0, 0, 1}) == test::approx(5 / 1.5));
  CHECK(imbalance({0, 0}) == 1);
  CHECK(imbalance({7}) == 1);
}

TEST_CASE("the drift of thresholds is what was planted, at each lag, and skips gaps") {
  std::vector<int> iterations;
  std::vector<std::vector<float>> thresholds;
  double ln = 0;
  for (int i = 1; i <= 4000; ++i) {
    const double u = to_unit(random_bits(3, i, 0));
    const double v = to_unit(random_bits(3, i, 1));
    ln += 0.01 * std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
    if (i % 1000 == 0) continue;
    iterations.push_back(i);
    thresholds.push_back({static_cast<float>(std::exp(ln)), 0});
  }
  const ThresholdSteps one = threshold_drift(iterations, thresholds, 1);
  CHECK(one.pairs == 3999 - 2 * 4 + 1);
  CHECK(one.deviation == test::approx(0.01).epsilon(0.05));
  CHECK(threshold_drift(iterations, thresholds, 32).deviation ==
        test::approx(0.01 * std::sqrt(32)).epsilon(0.3));
  CHECK(threshold_drift({1, 3, 5}, {{1}, {2}, {4}}, 1).pairs == 0);
  CHECK(threshold_drift({1, 3, 5}, {{1}, {2}, {4}}, 2).mean == test::approx(std::log(2)));
  CHECK(threshold_drift({1, 3, 5}, {{1}, {2}, {4}}, 2).deviation == test::approx(0));
}

TEST_CASE("the statistics of a trace are the statistics of its windows") {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.h5");
  TraceHeader header = test::small_header(2, 640);
  header.density = 0.00625;  // k = 4
  header.layers = {{"a", 0, 320}, {"b", 320, 320}};
  {
    TraceWriter writer(path, header);
    TraceWindow window = window_of({at({0, 1, 2, 3}), at({0, 10, 20, 330})});
    window.thresholds = {1, 3};
    writer.append(window);
    window = window_of({at({0, 1, 400, 500}), at({630, 631})});
    window.iteration = 2;
    window.thresholds = {2, 6};
    writer.append(window);
    writer.finish();
  }
  const TraceStatistics statistics = statistics_of(TraceReader(path));
  CHECK(statistics.selected.least == 0.5);
  CHECK(statistics.selected.mean == test::approx(14.0 / 16));
  CHECK(statistics.selected.most == 1);
  CHECK(statistics.layer_density[0] == test::approx(9.0 / (320 * 4)));
  CHECK(statistics.layer_density[1] == test::approx(5.0 / (320 * 4)));
  CHECK(statistics.unions[1].density == test::approx((7.0 + 6.0) / 2 / 640));
  CHECK(statistics.local_imbalance == test::approx((64 + 16 + 32 + 64) / 4.0));
  CHECK(statistics.kept == test::approx((0.5 + 0) / 2));
  CHECK(statistics.drifts[0].mean == test::approx(std::log(2)));
  CHECK(statistics.drifts[1].pairs == 0);
  CHECK(statistics.thresholds[1].local.mean == 4);
  CHECK_FALSE(statistics.thresholds[1].global);
  // First: 5 of 8 in region 0, one each in 1, 2 and 33; last: 2 of 6 in region 0, 2 in 63 ..
  CHECK(statistics.total_variation == test::approx(1 - 2.0 / 6));
}

}  // namespace thinwire::traces
