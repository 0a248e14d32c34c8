#include "tools/recorder/topk_sgd.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/recorder/support.hpp"
#include "tests/support/approx.hpp"

namespace thinwire::recorder {

namespace {

constexpr int kSgdRanks = 4;
constexpr std::int64_t kSize = 200;
constexpr std::int64_t kSelected = 10;

using Values = std::vector<float>;

Values copy(std::span<const float> values) { return {values.begin(), values.end()}; }

std::vector<Entry> listed(const SparseVector& vector) {
  return {vector.entries().begin(), vector.entries().end()};
}

/// Takes one step after another, and computes each again from what it was given.
void check_steps(traces::ResidualRule rule) {
  test::Bowl model(kSize);
  TopkSgd sgd(model, {kSgdRanks, kSelected, rule, 0.05F});
  for (int iteration = 1; iteration <= 30; ++iteration) {
    CAPTURE(iteration);
    std::vector<Values> residuals;
    for (int rank = 0; rank < kSgdRanks; ++rank)
      residuals.push_back(copy(sgd.residual(Rank(rank))));
    const Values before = copy(model.parameters());
    const TopkStep step = sgd.step(iteration);

    SparseVector applied = sum(step.selected);
    if (rule == traces::ResidualRule::oktopk) applied = select_largest(applied, kSelected);
    CHECK(step.global_threshold.has_value() == (rule == traces::ResidualRule::oktopk));
    for (int rank = 0; rank < kSgdRanks; ++rank) {
      CAPTURE(rank);
      const auto r = static_cast<std::size_t>(rank);
      Values accumulator = residuals[r];
      for (std::size_t i = 0; i < accumulator.size(); ++i) {
        accumulator[i] += sgd.gradient(Rank(rank))[i];
      }
      const SparseVector selected = select_topk(accumulator, kSelected);
      CHECK(selected.size() == kSelected);
      CHECK(listed(step.selected[r]) == listed(selected));
      CHECK(step.thresholds[r] == kth_magnitude(selected, kSelected));
      for (const Entry& entry : listed(intersect(selected, applied))) {
        accumulator[entry.coordinate] = 0;
      }
      CHECK(copy(sgd.residual(Rank(rank))) == accumulator);
    }
    Values after = before;
    for (const Entry& entry : listed(applied)) after[entry.coordinate] -= entry.value / kSgdRanks;
    CHECK(copy(model.parameters()) == after);
  }
  CHECK(model.evaluate().loss < 0.5);
}

}  // namespace

TEST_CASE("The top-k are k entries, of equal ones the first, and never zeros") {
  const Values values{1, -3, 0, 2, -2, 3};
  CHECK(listed(select_topk(values, 3)) == std::vector<Entry>{{1, -3}, {3, 2}, {5, 3}});
  CHECK(listed(select_topk(values, 6)) ==
        std::vector<Entry>{{0, 1}, {1, -3}, {3, 2}, {4, -2}, {5, 3}});
  CHECK(select_topk(values, 100).size() == 5);
}

TEST_CASE("Rule all: a residual loses what its worker selected, all of which is applied") {
  check_steps(traces::ResidualRule::all);
}

TEST_CASE("Ok-Topk's rule: a residual loses what is both selected and in the global top-k") {
  check_steps(traces::ResidualRule::oktopk);
}

TEST_CASE("A dense step applies the mean of the gradients and leaves residuals alone") {
  test::Bowl model(kSize);
  TopkSgd sgd(model, {kSgdRanks, kSelected, traces::ResidualRule::all, 0.5F});
  CHECK(sgd.dense_step(1) == test::approx(1));
  for (int rank = 0; rank < kSgdRanks; ++rank) {
    CHECK(copy(sgd.residual(Rank(rank))) == Values(kSize));
  }
  float mean = 0;
  for (int rank = 0; rank < kSgdRanks; ++rank) mean += sgd.gradient(Rank(rank))[7] / kSgdRanks;
  CHECK(model.parameters()[7] == test::approx(-mean));
}

}  // namespace thinwire::recorder
