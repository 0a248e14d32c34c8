// What Ok-Topk sends where the ranks select in few regions, or each in its own: by hand, on the α-β
// machine and on SMPI, and against the complete formula.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/smpi.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::exactly;
using test::formula;
using test::Iteration;
using test::SchemeRanks;

namespace {

constexpr std::int64_t kEach = 40;  ///< entries that a rank selects in each region

double time_of(const Terms& terms, double gamma = 0) {
  return formula(terms.messages, terms.words) + gamma * terms.reduced;
}

Traffic traffic_in(const RunReport& report, int rank, const std::string& phase) {
  for (std::size_t i = 0; i < report.phases.size(); ++i) {
    const auto& of_rank = report.ranks[static_cast<std::size_t>(rank)].by_phase;
    if (report.phases[i] == phase && i < of_rank.size()) return of_rank[i];
  }
  return {};
}

/// Each rank selects 40 entries in each of P equal regions, no two ranks the same. The k largest sums
/// lie in the first `regions`, the same number in each.
struct Concentrated {
  int ranks;
  int regions;
  std::int64_t k = kEach * ranks;
  std::int64_t width = 4 * kEach * ranks;  ///< of a region
  GradientSpace space{.components = width * ranks, .granule = 1};

  [[nodiscard]] SparseVector gradient(int rank) const {
    Entries entries;
    for (int region = 0; region < ranks; ++region) {
      for (std::int64_t i = 0; i < kEach; ++i) {
        const std::int64_t place = i * ranks + rank;  // in the order of all ranks' entries
        const bool large = region < regions && place < k / regions;
        entries.push_back(
            {static_cast<std::uint32_t>(region * width + 4 * place), large ? 9.0F : 1.0F});
      }
    }
    return SparseVector::checked(entries);
  }
};

/// A quarter of the regions holds the result: the largest size is four times the mean, not above.
Concentrated quarter(int ranks) { return {.ranks = ranks, .regions = (ranks + 3) / 4}; }

/// The time of the second iteration, which reuses the thresholds of the first one.
Iteration second_iteration(SchemeRanks& scheme, Network& network,
                           const SchemeRanks::GradientOf& gradient) {
  static_cast<void>(scheme.run(network, 1, gradient));
  return scheme.run(network, 2, gradient);
}

/// The entries on the critical path of the direct gather, by hand.
double gathered_entries(int ranks, double k) {
  if (ranks == 3) return 2 * k;      // one rank has all, and sends it in both steps
  if (ranks == 7) return 2.5 * k;    // half of it, and then all of it twice
  return k + 2 * k - 4 * k / ranks;  // doubling until a rank has all, which is sent twice more
}

/// Theorem 3.1's tight case: rank i selects k entries, evenly spread over region i, and k/P of them
/// are larger than all others.
struct OwnRegion {
  int ranks;
  std::int64_t k = kEach * ranks;
  std::int64_t width = 4 * k;
  GradientSpace space{.components = width * ranks, .granule = 1};

  [[nodiscard]] SparseVector gradient(int rank) const {
    Entries entries;
    for (std::int64_t i = 0; i < k; ++i) {
      entries.push_back(
          {static_cast<std::uint32_t>(rank * width + 4 * i), i % ranks == 0 ? 9.0F : 1.0F});
    }
    return SparseVector::checked(entries);
  }
};

/// The entries that rank 0 receives in the split of the tight case with averaged boundaries, over k.
/// The mean of the first cuts lies 1/P of a region behind the middle of the space.
double received_by_first(int ranks) { return ranks / 2.0 - 1.5 + 1.0 / ranks; }

}  // namespace

TEST_CASE("A direct gather of what few regions hold takes more than Equation 2 allows") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    const Concentrated input = quarter(ranks);
    const auto k = static_cast<double>(input.k);
    test::Networks networks;
    // Equal regions are the balanced ones here. The averaged boundaries would be an entry off.
    SchemeRanks scheme(find_scheme("oktopk"), ranks, input.space, input.k,
                       {{"balanced_split", false}});
    const Iteration outcome = second_iteration(scheme, networks.alphabeta,
                                               [&](int rank) { return input.gradient(rank); });
    CHECK(std::get<SparseVector>(outcome.results[0].sum).size() ==
          static_cast<std::size_t>(input.k));
    CHECK(std::ranges::find(outcome.report.phases, "balance") == outcome.report.phases.end());
    const double steps = std::ceil(std::log2(ranks));
    const double gathered = 2 * gathered_entries(ranks, k);
    const double time = outcome.report.makespan().value();
    CHECK(time == exactly(formula(ranks - 1 + 2 * steps,
                                  2 * k * (ranks - 1) / ranks + ranks - 1 + gathered)));
    const Options defaults(find_scheme("oktopk").options, {});
    const Cost cost = find_scheme("oktopk").cost({.ranks = ranks,
                                                  .n = input.space.components,
                                                  .k = input.k,
                                                  .iteration = 2,
                                                  .options = &defaults});
    CHECK(time <= time_of(cost.run().high) * (1 + 1e-9));
    CHECK(gathered > 4 * k * (ranks - 1) / ranks);
  }
}

TEST_CASE("The gather's upper end follows from the trigger") {
  const auto words = [](int ranks, double trigger, bool balancing = true) {
    const Options options(find_scheme("oktopk").options,
                          {{"trigger", trigger}, {"balancing", balancing}});
    const CostInput in{
        .ranks = ranks, .n = 1'000'000, .k = 6400, .iteration = 2, .options = &options};
    const double split = 2.0 * 6400 * (ranks - 1) / ranks;
    return find_scheme("oktopk").cost(in).counted.high.words - split;
  };
  for (const int ranks : {4, 8, 16, 64}) {
    CAPTURE(ranks);
    const double k = 6400;
    const double balanced = 4 * k * (ranks - 1) / ranks;
    for (const double c : {1.0, 2.0, 4.0, 8.0, 16.0}) {
      CAPTURE(c);
      const double direct = 2 * k + 2 * k * std::log2(c) - 2 * c * k / ranks;
      if (c < ranks) CHECK(words(ranks, c) == exactly(std::max(balanced, direct)));
      if (c >= ranks) CHECK(words(ranks, c) == exactly(2 * k * std::log2(ranks)));
    }
    CHECK(words(ranks, 0) == exactly(balanced));
    CHECK(words(ranks, 4, false) == exactly(2 * k * std::log2(ranks)));
  }
}

TEST_CASE("In Theorem 3.1's tight case equal regions send nothing but the gather") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    const OwnRegion input{.ranks = ranks};
    test::Networks networks;
    SchemeRanks scheme(find_scheme("oktopk"), ranks, input.space, input.k,
                       {{"balanced_split", false}});
    const Iteration outcome = second_iteration(scheme, networks.alphabeta,
                                               [&](int rank) { return input.gradient(rank); });
    CHECK(std::get<SparseVector>(outcome.results[0].sum).size() ==
          static_cast<std::size_t>(input.k));
    const Traffic split = traffic_in(outcome.report, ranks - 1, "split_and_reduce");
    CHECK(split.messages_received == ranks - 1);
    CHECK(split.words_received == Words(0));
    CHECK(traffic_in(outcome.report, 0, "allgatherv").words_received ==
          Words(2 * kEach * (ranks - 1)));
    const double time = outcome.report.makespan().value();
    CHECK(time == exactly(time_of(scheme.cost(2).run().low)));
    CHECK(time == exactly(formula(ranks - 1 + 2 * std::ceil(std::log2(ranks)),
                                  static_cast<double>((2 * kEach + 1) * (ranks - 1)))));
  }
}

TEST_CASE("In Theorem 3.1's tight case averaged boundaries give one rank nearly half of all") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    CAPTURE(ranks);
    const OwnRegion input{.ranks = ranks};
    const auto k = static_cast<double>(input.k);
    test::Networks networks;
    SchemeRanks scheme(find_scheme("oktopk"), ranks, input.space, input.k);
    const Iteration outcome = second_iteration(scheme, networks.alphabeta,
                                               [&](int rank) { return input.gradient(rank); });
    const auto received = static_cast<double>(
        traffic_in(outcome.report, 0, "split_and_reduce").words_received.value());
    CHECK(received == doctest::Approx(2 * k * received_by_first(ranks)).epsilon(4 / k));
    const double time = outcome.report.makespan().value();
    const SchemeInfo info = find_scheme("oktopk");
    const Interval interval =
        scheme.cost(2, test::selected_counts(outcome, info, 1), input.k).run();
    CHECK(time >= time_of(interval.low) * (1 - 1e-9));
    CHECK(time <= time_of(interval.high) * (1 + 1e-9));
    // Equation 1 allows 2k (P-1)/P words, and Equation 3 three times as many.
    if (ranks >= 16) CHECK(received > 3 * 2 * k * (ranks - 1) / ranks);
  }
}

TEST_CASE("oktopk stays within its interval wherever each rank selects") {
  for (const int ranks : {3, 4, 7, 8, 13, 16, 32}) {
    if (test::kSanitized && ranks > 4) continue;
    for (const double trigger : {0.0, 1.0, 2.0, 4.0, 8.0}) {
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(ranks);
        CAPTURE(trigger);
        CAPTURE(seed);
        const std::int64_t k = 600;
        const GradientSpace space{.components = 60'000, .granule = 1};
        // Each rank selects in up to three narrow places of its own, or of all ranks.
        const auto gradient = [&](int rank) {
          std::set<std::uint32_t> places;
          for (std::uint64_t i = 0; places.size() < static_cast<std::size_t>(k); ++i) {
            const std::uint64_t bits = random_bits(seed, rank, static_cast<std::int64_t>(i));
            const int owner = seed % 2 == 0 ? rank : 0;
            const std::uint64_t at = random_bits(seed, 7919 * (owner + 1),
                                                 static_cast<std::int64_t>(bits % (1 + seed % 3)));
            places.insert(static_cast<std::uint32_t>(at % 58'000 + (bits >> 8) % 2000));
          }
          Entries entries;
          for (const std::uint32_t place : places) {
            entries.push_back({place, static_cast<float>(1 + random_bits(seed, 3, place) % 1000)});
          }
          return SparseVector::checked(entries);
        };
        const double gamma = seed % 3 == 0 ? 2 * test::kBeta.value() : 0;
        test::Networks networks;
        SchemeRanks scheme(find_scheme("oktopk+exact_topk"), ranks, space, k,
                           {{"trigger", trigger}}, Seconds(gamma));
        for (const int iteration : {1, 2}) {
          const Iteration outcome = scheme.run(networks.alphabeta, iteration, gradient);
          const auto result =
              static_cast<std::int64_t>(std::get<SparseVector>(outcome.results[0].sum).size());
          const Interval interval =
              scheme
                  .cost(iteration,
                        test::selected_counts(outcome, find_scheme("oktopk+exact_topk"), 1), result)
                  .run();
          const double time = outcome.report.makespan().value();
          CHECK(time >= time_of(interval.low, gamma) * (1 - 1e-9));
          CHECK(time <= time_of(interval.high, gamma) * (1 + 1e-9));
        }
      }
    }
  }
}

TEST_CASE("What a run received in the split bounds its time, so that a slow run is found") {
  const auto high = [](int ranks, std::optional<std::int64_t> split) {
    const std::int64_t k = 6400;
    const Options options(find_scheme("oktopk").options, {});
    const SelectedCounts selected{.least = k, .most = k, .total = k * ranks, .split_words = split};
    return find_scheme("oktopk")
        .cost({.ranks = ranks,
               .n = 10'000'000,
               .k = k,
               .iteration = 2,
               .options = &options,
               .selected = selected,
               .result = k})
        .run()
        .high.words;
  };
  for (const int ranks : {4, 16, 64, 256}) {
    CAPTURE(ranks);
    const double k = 6400;
    const std::int64_t even = 2 * 6400 * (ranks - 1) / ranks;
    const double gather = high(ranks, std::nullopt) - 2 * k * (ranks - 1);
    // All that a rank sends and receives, in each of the buckets of 16.
    const double buckets = std::ceil((ranks - 1) / 16.0);
    const double known = buckets * (2 * k + static_cast<double>(even));
    CHECK(high(ranks, even) == exactly(gather + std::min(known, 2 * k * (ranks - 1))));
    // All selections in one region: as without knowing.
    CHECK(high(ranks, 2 * 6400 * (ranks - 1)) == exactly(high(ranks, std::nullopt)));
  }
  CHECK(high(64, 2 * 6300) < 0.25 * high(64, std::nullopt));
}

TEST_CASE("SMPI takes as long for a direct gather and for the tight case as the formulas say") {
  for (const int ranks : {3, 4, 7, 8, 16, 64}) {
    if (test::kSanitized && ranks > 4) continue;
    CAPTURE(ranks);
    const Concentrated few = quarter(ranks);
    const OwnRegion own{.ranks = ranks};
    const auto times = [&](Network& network) {
      test::Doubles all;
      SchemeRanks concentrated(find_scheme("oktopk"), ranks, few.space, few.k,
                               {{"balanced_split", false}});
      SchemeRanks tight(find_scheme("oktopk"), ranks, own.space, own.k,
                        {{"balanced_split", false}});
      SchemeRanks averaged(find_scheme("oktopk"), ranks, own.space, own.k);
      const auto of_few = [&](int rank) { return few.gradient(rank); };
      const auto of_own = [&](int rank) { return own.gradient(rank); };
      for (SchemeRanks* scheme : {&concentrated, &tight, &averaged}) {
        all.push_back(second_iteration(*scheme, network,
                                       scheme == &concentrated ? SchemeRanks::GradientOf(of_few)
                                                               : SchemeRanks::GradientOf(of_own))
                          .report.makespan()
                          .value());
      }
      return all;
    };
    test::check_same_on_smpi(ranks, times);
  }
}

}  // namespace thinwire::algorithms
