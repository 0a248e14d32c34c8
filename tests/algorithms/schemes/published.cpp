// Schedules as the papers' codes have them, by hand: words, messages and merges.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/smpi.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::exactly;
using test::formula;
using GivenOptions = std::map<std::string, OptionValue>;
using test::Iteration;
using test::SchemeRanks;

namespace {

constexpr std::int64_t kInRegion = 5;  ///< entries of a rank in each region

/// Every rank has 5 entries in each of P equal regions, and no two ranks have one in common.
struct Disjoint {
  int ranks;
  std::int64_t k = kInRegion * ranks;
  GradientSpace space{.components = 2 * kInRegion * ranks * ranks, .granule = 1};

  [[nodiscard]] SparseVector gradient(int rank) const {
    Entries entries;
    for (std::int64_t i = 0; i < k; ++i) {
      entries.push_back({static_cast<std::uint32_t>(2 * ranks * i + rank), 1.0F});
    }
    return SparseVector::checked(entries);
  }
};

/// A scheme on disjoint selections, where a merged entry takes `merge`.
Iteration on_disjoint(Network& network, const std::string& name, const Disjoint& input,
                      Seconds merge = Seconds(0)) {
  SchemeRanks scheme(find_scheme(name), input.ranks, input.space, input.k, {}, merge);
  return scheme.run(network, 1, [&](int rank) { return input.gradient(rank); });
}

/// The time of a scheme where a merged entry takes a second, and messages next to nothing.
double seconds_of_merging(Network& network, const std::string& name, int ranks) {
  return on_disjoint(network, name, {.ranks = ranks}, Seconds(1)).report.makespan().value();
}

/// Small tensors, 1,344 components in all, around two large ones.
const std::vector<std::int64_t> kTensors{400, 20'000, 600, 30'000, 344};
constexpr std::int64_t kInTensors = 51'344;

/// dragonn on these tensors, of which all ranks have every hundredth component.
Iteration on_tensors(Network& network, int ranks, test::Figures figures,
                     const GivenOptions& options = {}) {
  Entries entries;
  for (std::uint32_t at = 0; at < kInTensors; at += 100) entries.push_back({at, 1.0F});
  const SparseVector gradient = SparseVector::checked(entries);
  GivenOptions all{
      {"compress_s", 0.0}, {"compress_s_per_component", 0.0}, {"compress_s_per_entry", 0.0}};
  for (const auto& [name, value] : options) all[name] = value;
  SchemeRanks scheme(find_scheme("dragonn+exact_topk"), ranks,
                     {.components = kInTensors, .granule = 1}, 513, all, Seconds(0), 1, kTensors,
                     figures);
  return scheme.run(network, 1, [&](int) { return gradient; });
}

}  // namespace

TEST_CASE("SparCML's split visits as many entries as its ring, as each stream is merged") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    test::Networks networks;
    // With s ranks summed, a merge visits s parts and the next one: 2 + 3 + ... + P parts.
    const double visited = static_cast<double>(kInRegion * (ranks - 1) * (ranks + 2)) / 2;
    for (const char* name : {"ssar_split_allgather", "ring_sparse"}) {
      CAPTURE(std::string(name));
      CHECK(seconds_of_merging(networks.alphabeta, name, ranks) ==
            doctest::Approx(visited).epsilon(1e-3));
    }
    // A dense region is written at the entries that arrive.
    CHECK(seconds_of_merging(networks.alphabeta, "dsar_split_allgather", ranks) ==
          doctest::Approx(static_cast<double>(kInRegion * (ranks - 1))).epsilon(1e-3));
    if (!std::has_single_bit(static_cast<unsigned>(ranks))) continue;
    const auto k = static_cast<double>(kInRegion * ranks);
    CHECK(seconds_of_merging(networks.alphabeta, "ssar_recursive_double", ranks) ==
          doctest::Approx(2 * k * (ranks - 1)).epsilon(1e-3));
  }
}

TEST_CASE("A split without a price for merging takes as long as its messages") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    const Disjoint input{.ranks = ranks};
    test::Networks networks;
    const Iteration outcome = on_disjoint(networks.alphabeta, "ssar_split_allgather", input);
    // P-1 parts of 5 pairs and a marker, then P-1 regions of 5 P pairs and a marker.
    const auto words =
        static_cast<double>((ranks - 1) * (2 * kInRegion + 1 + 2 * kInRegion * ranks + 1));
    CHECK(outcome.report.makespan().value() ==
          exactly(formula(ranks - 1 + std::ceil(std::log2(ranks)), words)));
  }
}

TEST_CASE("topk_allreduce gathers no sizes: all ranks know that each sends k indexes") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    const Disjoint input{.ranks = ranks};
    test::Networks networks;
    const Iteration outcome = on_disjoint(networks.alphabeta, "topk_allreduce", input);
    CHECK(std::ranges::find(outcome.report.phases, "sizes") == outcome.report.phases.end());
    const auto k = static_cast<double>(input.k);
    const auto core = static_cast<double>(std::bit_floor(static_cast<unsigned>(ranks)));
    const double steps = std::ceil(std::log2(ranks));
    const double united = k * ranks;
    const double folding = core < ranks ? 2 : 0;  // all values to a partner, and all back
    const double time = outcome.report.makespan().value();
    const double by_hand = formula(steps + 2 * std::log2(core) + folding,
                                   k * (ranks - 1) + united * (2 * (core - 1) / core + folding));
    if (folding == 0) CHECK(time == exactly(by_hand));
    if (folding > 0) CHECK(time == doctest::Approx(by_hand).epsilon(0.02));  // uneven pieces
  }
  // Fewer entries than k are padded to k.
  test::Networks networks;
  SchemeRanks scheme(find_scheme("topk_allreduce"), 4, {.components = 1000, .granule = 1}, 50);
  const SparseVector few = SparseVector::checked({{3, 1.0F}, {9, 1.0F}, {500, 1.0F}, {900, 1.0F}});
  const Iteration outcome = scheme.run(networks.alphabeta, 1, [&](int) { return few; });
  CHECK(outcome.report.makespan().value() == exactly(formula(2 + 4, 50 * 3 + 2 * 4 * 3.0 / 4)));
}

TEST_CASE("dragonn fuses the tensors that it leaves dense, and says how many it compressed") {
  const test::Figures figures{Seconds(9e-7), Seconds(1e-9)};
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    test::Networks networks;
    const Iteration outcome = on_tensors(networks.alphabeta, ranks, figures);
    // By Equation 1 the two large tensors are worth it: the small ones have next to no share of the
    // messages of their bucket, and an allgather has P-1 of its own.
    CHECK(outcome.results[0].selection.compressed_tensors == 2);
    const auto p = static_cast<double>(ranks);
    const double fused = 1344 / p;
    const double gathered = 2 * (200 + 300) * (p - 1);
    CHECK(outcome.report.makespan().value() ==
          exactly(formula(2 * (p - 1) + 2 * (p - 1), 2 * (p - 1) * fused + gathered)));
    CHECK(std::get<SparseVector>(outcome.results[0].sum).size() == 1344 + 500);
  }
}

TEST_CASE(
    "dragonn compresses fewer tensors on faster networks, and counts a lone tensor's messages") {
  test::Networks networks;
  const auto compressed = [&](double alpha, double beta, const GivenOptions& options = {}) {
    GivenOptions all{{"compress_s", 2e-5}};
    for (const auto& [name, value] : options) all[name] = value;
    return on_tensors(networks.alphabeta, 8, {Seconds(alpha), Seconds(beta)}, all)
        .results[0]
        .selection.compressed_tensors;
  };
  CHECK(compressed(1e-7, 1e-9) == 2);
  CHECK(compressed(1e-7, 5e-10) == 1);
  CHECK(compressed(1e-7, 1e-10) == 0);
  // In buckets of its own, each tensor has 2 (P-1) messages of full synchronization to save.
  CHECK(compressed(1e-5, 1e-10, {{"fusion_words", std::int64_t{1}}}) == 5);
  CHECK(compressed(1e-5, 1e-10) == 0);
  CHECK(compressed(1e-5, 1e-10, {{"tensor_selection", false}}) == 5);
}

TEST_CASE("SMPI takes as long for these schedules as the alpha-beta machine") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    if (test::kSanitized && ranks > 4) continue;
    CAPTURE(ranks);
    const auto times = [&](Network& network) {
      test::Doubles all;
      const Disjoint input{.ranks = ranks};
      for (const char* name : {"ssar_split_allgather", "ring_sparse", "topk_allreduce"}) {
        SchemeRanks scheme(find_scheme(name), ranks, input.space, input.k, {}, Seconds(1e-8));
        all.push_back(scheme.run(network, 1, [&](int rank) { return input.gradient(rank); })
                          .report.makespan()
                          .value());
      }
      all.push_back(
          on_tensors(network, ranks, {Seconds(2e-6), Seconds(0.4e-9)}).report.makespan().value());
      return all;
    };
    test::check_same_on_smpi(ranks, times);
  }
}

}  // namespace thinwire::algorithms
