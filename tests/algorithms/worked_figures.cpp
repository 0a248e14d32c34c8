// The figures that the papers work out come out of runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "algorithms/schemes/dragonn.hpp"
#include "algorithms/schemes/exdyna.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::exactly;
using test::formula;
using test::Iteration;
using test::SchemeRanks;

namespace {

Traffic traffic_in(const Iteration& outcome, std::size_t rank, const std::string& phase) {
  const RankReport& report = outcome.report.ranks[rank];
  for (std::size_t i = 0; i < report.by_phase.size(); ++i) {
    if (outcome.report.phases[i] == phase) return report.by_phase[i];
  }
  return {};
}

/// `count` entries from coordinate `first` on, `step` apart.
SparseVector entries_from(std::int64_t first, std::int64_t step, std::int64_t count,
                          float value = 1.0F) {
  Entries entries;
  for (std::int64_t i = 0; i < count; ++i) {
    entries.push_back({static_cast<std::uint32_t>(first + i * step), value});
  }
  return SparseVector::checked(entries);
}

/// Words that a rank sends in all, with selections that have nothing in common.
std::int64_t words_of_disjoint(const std::string& scheme, int ranks, GradientSpace space,
                               std::int64_t k) {
  test::Networks networks;
  SchemeRanks run(find_scheme(scheme), ranks, space, k);
  const std::int64_t carried = k / space.granule;
  const Iteration outcome =
      run.run(networks.counting, 1, [&](int rank) { return entries_from(rank, ranks, carried); });
  return outcome.report.ranks[0].total().words_sent.value();
}

}  // namespace

TEST_CASE(
    "Ok-Topk's introduction: 10,000 values grow to 640,000 in the seventh stage of 128 ranks") {
  // Granules of 100 components keep it quick. What 128 ranks send more than 64 is their last stage.
  const std::int64_t k = 10'000;
  const GradientSpace roomy{.components = 12'800'000, .granule = 100};
  const std::int64_t six = words_of_disjoint("ssar_recursive_double", 64, roomy, k);
  const std::int64_t seven = words_of_disjoint("ssar_recursive_double", 128, roomy, k);
  CHECK(seven - six == 2 * 640'000 + 1);  // index and value, and the stream's marker
  CHECK(seven == 2 * k * 127 + 7);
  // With the million weights of the example that is more than a dense vector has, and a dynamic
  // stream is dense from the stage on whose sum might pass δ = 500,000.
  const GradientSpace million{.components = 1'000'000, .granule = 100};
  test::Networks networks;
  SchemeRanks run(find_scheme("dsar_recursive_double"), 128, million, k);
  const Iteration outcome = run.run(
      networks.counting, 1, [&](int rank) { return entries_from(rank % 100, 100, k / 100); });
  CHECK(outcome.report.ranks[0].total().words_sent.value() == 2 * k * 63 + 1'000'000 + 7);
}

TEST_CASE("Both extremes of Equations 2 and 3 of Ok-Topk") {
  for (const int ranks : {8, 16, 64}) {
    CAPTURE(ranks);
    const double p = ranks;
    const double log = std::log2(p);
    const std::int64_t each = 40;  // k/P
    const std::int64_t k = each * ranks;
    const double share = static_cast<double>(k) * (p - 1) / p;
    const std::int64_t width = 2 * k;
    const GradientSpace space{.components = width * ranks, .granule = 1};
    // Every rank selects k/P in each region. The global top-k lie in one region, or evenly.
    const auto time_of = [&](bool crowded) {
      const auto gradient = [&](int rank) {
        Entries entries;
        for (int region = 0; region < ranks; ++region) {
          for (std::int64_t i = 0; i < each; ++i) {
            const std::int64_t place = region * width + i * ranks + rank;
            const bool global = crowded ? region == 0 : rank == region;
            entries.push_back({static_cast<std::uint32_t>(place), global ? 9.0F : 1.0F});
          }
        }
        return SparseVector::checked(entries);
      };
      test::Networks networks;
      SchemeRanks scheme(find_scheme("oktopk"), ranks, space, k, {{"balanced_split", false}});
      static_cast<void>(scheme.run(networks.alphabeta, 1, gradient));
      Iteration outcome = scheme.run(networks.alphabeta, 2, gradient);
      CHECK(std::get<SparseVector>(outcome.results[0].sum).size() == static_cast<std::size_t>(k));
      return outcome;
    };
    const Iteration even = time_of(false);
    CHECK(even.report.makespan().value() ==
          exactly(formula(p - 1 + 2 * log, 2 * share + (p - 1) + 2 * share)));
    const Iteration crowded = time_of(true);
    // Rank 0 has them all: balancing takes it (P-1) α + 2k (P-1)/P β, at the upper end of
    // Equation 2, and the phases' words are as in Equation 3: 6k (P-1)/P.
    const auto words = [&](const char* phase) {
      double most = 0;
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
        const Traffic traffic = traffic_in(crowded, rank, phase);
        most = std::max({most, static_cast<double>(traffic.words_sent.value()),
                         static_cast<double>(traffic.words_received.value())});
      }
      return most;
    };
    CHECK(words("split_and_reduce") == 2 * share);
    CHECK(words("balance") == 2 * share);
    CHECK(words("allgatherv") == 2 * share);
    CHECK(traffic_in(crowded, 0, "balance").time.value() == exactly(formula(p - 1, 2 * share)));
    const double equation3 = formula(2 * (p - 1) + 2 * log, 6 * share + (p - 1));
    CHECK(crowded.report.makespan().value() >= equation3 * (1 - 1e-9));
    // Ranks leave the balancing one after another, which may cost the allgatherv once more.
    CHECK(crowded.report.makespan().value() <= equation3 + formula(log, 2 * share));
  }
}

TEST_CASE("Lemma 5.1 of SparCML bounds all its schemes, and both of its extremes are met") {
  constexpr int kRanks = 16;
  const GradientSpace space{.components = 64'000, .granule = 1};
  const std::int64_t k = 800;
  const double log = 4;
  for (const char* name :
       {"ssar_recursive_double", "ssar_split_allgather", "ring_sparse", "topka", "topkdsa"}) {
    CAPTURE(std::string(name));
    const auto time = [&](bool disjoint) {
      test::Networks networks;
      SchemeRanks scheme(find_scheme(name), kRanks, space, k);
      return scheme
          .run(networks.alphabeta, 1,
               [&](int rank) { return entries_from(disjoint ? rank : 0, 80, k); })
          .report.makespan()
          .value();
    };
    // Words of dense values, as the lemma has them; a pair is two.
    CHECK(time(true) >= formula(log, (kRanks - 1) * static_cast<double>(k)));
    CHECK(time(false) >= formula(log, 2.0 * static_cast<double>(k) * (kRanks - 1) / kRanks));
  }
  // Recursive doubling meets both ends of its interval.
  const auto doubling = [&](bool disjoint) {
    test::Networks networks;
    SchemeRanks scheme(find_scheme("ssar_recursive_double"), kRanks, space, k);
    return scheme
        .run(networks.alphabeta, 1,
             [&](int rank) { return entries_from(disjoint ? rank : 0, 80, k); })
        .report.makespan()
        .value();
  };
  CHECK(doubling(false) == exactly(formula(log, 2 * static_cast<double>(k) * log + log)));
  CHECK(doubling(true) == exactly(formula(log, 2 * static_cast<double>(k) * (kRanks - 1) + log)));
  // The split and allgather meet their lower end where all select the same, evenly spread.
  test::Networks networks;
  SchemeRanks split(find_scheme("ssar_split_allgather"), kRanks, space, k);
  CHECK(split.run(networks.alphabeta, 1, [&](int) { return entries_from(0, 80, k); })
            .report.makespan()
            .value() == exactly(formula(kRanks - 1 + log,
                                        (4 * static_cast<double>(k) / kRanks + 2) * (kRanks - 1))));
  // topkdsa: both ends of Table 1, with the sizes' words: all the same, and a dense result.
  SchemeRanks same(find_scheme("topkdsa"), kRanks, space, k);
  CHECK(same.run(networks.alphabeta, 1, [&](int) { return entries_from(0, 80, k); })
            .report.makespan()
            .value() == exactly(formula(kRanks - 1 + 2 * log,
                                        4 * static_cast<double>(k) * (kRanks - 1) / kRanks + 15)));
  const std::int64_t many = 4000;
  SchemeRanks dense(find_scheme("topkdsa"), kRanks, space, many);
  CHECK(dense.run(networks.alphabeta, 1, [&](int rank) { return entries_from(rank, 16, many); })
            .report.makespan()
            .value() ==
        exactly(formula(kRanks - 1 + 2 * log,
                        (2.0 * static_cast<double>(many) + 64'000) * (kRanks - 1) / kRanks + 15)));
}

TEST_CASE("SparCML: sparsity alone gains at most 2/kappa over dense where the result is dense") {
  // The result is sent as n words, so kappa is 1 here, and the gain tends to 2 as k falls; a result
  // of half of the space could be sent as n/2 words at best: 4.
  constexpr int kRanks = 32;
  const GradientSpace space{.components = 3'200'000, .granule = 100};
  const auto time = [&](const char* name, std::int64_t k) {
    test::Networks networks;
    SchemeRanks scheme(find_scheme(name), kRanks, space, k);
    const auto gradient = [&](int rank) -> algorithms::LocalGradient {
      if (k > 0) return entries_from(rank, 32'000 * 100 / k, k / 100);
      return DenseBlock(0, std::vector<float>(32'000));
    };
    return scheme.run(networks.alphabeta, 1, gradient).report.makespan().value();
  };
  const double full = time("dense_rabenseifner", 0);
  double before = 0;
  for (const std::int64_t k : {800'000, 200'000, 100'000, 20'000}) {
    const double gain = full / time("dsar_split_allgather", k);
    CHECK(gain > before);
    CHECK(gain <= 2.0);
    before = gain;
  }
  CHECK(before > 1.9);
  // Lemma 5.2: no time below log P α + δ β, δ = n/2.
  CHECK(time("dsar_split_allgather", 100) >= formula(5, 1'600'000));
}

TEST_CASE("ExDyna's padding follows Equations 3 to 5") {
  // 10, 30, 20 and 20 selected.
  CHECK(padding_factor(4, 30, 80) == 4 * 30.0 / 80);
  CHECK(padded_elements(4, 30, 80) == 4 * (20 + 0 + 10 + 10));
  CHECK(padding_factor(2, 5, 10) == 1);
  CHECK(padding_factor(2, 0, 0) == 1);
  CHECK(padding_factor(3, 9, 9) == 3);

  // In a run: the words of the indexes' allgather over the words of an even one.
  constexpr int kRanks = 4;
  const GradientSpace space{.components = 4096, .granule = 1};
  const auto gradient = [&](int) { return entries_from(0, 1, 1500, 2.0F); };  // crowded in front
  test::Networks networks;
  SchemeRanks scheme(find_scheme("exdyna"), kRanks, space, 1500);
  const Iteration outcome = scheme.run(networks.alphabeta, 1, gradient);
  std::vector<std::int64_t> selected;
  for (const Reduced& result : outcome.results) selected.push_back(result.selection.selected);
  const Numbers by_rank(selected);
  const double factor = padding_factor(kRanks, std::ranges::max(selected), by_rank.total());
  CHECK(by_rank.total() == 1500);
  const auto words = static_cast<double>(traffic_in(outcome, 0, "indexes").words_received.value());
  CHECK(words / (1500.0 * (kRanks - 1) / kRanks) == test::approx(factor));
  CHECK(factor > 2.5);
}

TEST_CASE("ExDyna holds the density where hard thresholds build up with P") {
  // Each rank's gradient is drawn anew in each iteration from one law; with residuals. What is
  // selected by all ranks together, over k, after the start-up.
  const std::int64_t n = 20'000;
  const std::int64_t k = 200;
  const GradientSpace space{.components = n, .granule = 1};
  const auto selected_over_k = [&](const std::string& name, int ranks) {
    const SchemeInfo& info = find_scheme(name);
    test::Networks networks;
    SchemeRanks scheme(info, ranks, space, k);
    double sum = 0;
    constexpr int kStart = 300;
    constexpr int kCounted = 60;
    for (int iteration = 1; iteration <= kStart + kCounted; ++iteration) {
      const Iteration outcome = scheme.run(networks.counting, iteration, [&](int rank) {
        Entries entries;
        for (std::uint32_t i = 0; i < n / 10; ++i) {
          const double unit = to_unit(random_bits(3, rank, iteration, i));
          entries.push_back({10 * i + static_cast<std::uint32_t>(random_bits(4, rank, i) % 10),
                             static_cast<float>(std::log(unit))});
        }
        return SparseVector::checked(entries);
      });
      if (iteration <= kStart) continue;
      const auto size = std::get<SparseVector>(outcome.results[0].sum).size();
      sum += static_cast<double>(size) / static_cast<double>(k) / kCounted;
    }
    return sum;
  };
  for (const int ranks : {2, 8, 16}) {
    if (test::kSanitized && ranks > 2) continue;
    CAPTURE(ranks);
    const double held = selected_over_k("exdyna", ranks);
    CHECK(held > 0.9);
    CHECK(held < 1.1);
    const double built_up = selected_over_k("hard_threshold", ranks);
    CHECK(built_up > 0.8 * ranks);  // hardly any index meets another here
    CHECK(built_up < 1.1 * ranks);
  }
}

TEST_CASE("DRAGONN compresses a tensor where Equation 1 says so") {
  const TensorProfile profile{.compress_s = 1e-4,
                              .compress_s_per_component = 1e-10,
                              .alpha_s = 1e-5,
                              .beta_s_per_word = 1.28e-9};  // 25 Gb/s
  // By hand, P = 16, k = d/1000: T_full = 30 (1e-5 + d/16 1.28e-9), T_spr = 15 (1e-5 + 2d/1000
  // 1.28e-9), so that compressing pays from 1.5e-4 + 2.3616e-9 d > 1e-4 + 1e-10 d: always.
  CHECK(worth_compressing(1000, 2, 16, profile));
  // Not where the kernels' launch is more than what is saved.
  TensorProfile slow = profile;
  slow.compress_s = 1e-3;
  const double from = (1e-3 - 1.5e-4) / (2.3616e-9 - 1e-10);  // 375,825 components
  CHECK_FALSE(worth_compressing(static_cast<std::int64_t>(from * 0.99), 2 * 372, 16, slow));
  CHECK(worth_compressing(static_cast<std::int64_t>(from * 1.01), 2 * 380, 16, slow));
  CHECK_FALSE(worth_compressing(1'000'000, 2000, 1, profile));
  // Values of 16 bits halve the dense words: d/16 = w - 1000 words, of which alpha is as long as.
  constexpr Precision kBf16{.value_bits = 16, .index_bits = 32};
  const TensorProfile free{.alpha_s = 1e-6, .beta_s_per_word = 1e-9};
  CHECK_FALSE(worth_compressing(143'500, 10'000, 16, free, kBf16));
  CHECK(worth_compressing(144'500, 10'000, 16, free, kBf16));
  CHECK(worth_compressing(72'500, 10'000, 16, free));
  // An entry has 1.5 words then: 96,000 of all ranks at 0.1 ns, which are 640 words of 1 ns in each
  // of 15 messages.
  const TensorProfile decoded{.compress_s_per_entry = 1e-10, .beta_s_per_word = 1e-9};
  CHECK_FALSE(worth_compressing(154'000, 9000, 16, decoded, kBf16));
  CHECK(worth_compressing(154'500, 9000, 16, decoded, kBf16));

  // In a run, tensor by tensor: two large ones around a small one.
  constexpr int kRanks = 4;
  const GradientSpace space{.components = 10'100, .granule = 1};
  const std::vector<std::int64_t> tensors{5000, 100, 5000};
  const SparseVector gradient = entries_from(0, 101, 100);
  const auto outcome_with = [&](const test::SchemeRanks::GradientOf& of, double launch) {
    test::Networks networks;
    SchemeRanks scheme(find_scheme("dragonn"), kRanks, space, 100,
                       {{"compress_s", launch},
                        {"compress_s_per_component", 0.0},
                        {"fusion_words", std::int64_t{1}}},
                       Seconds(0), 1, tensors, {test::kAlpha, test::kBeta});
    Iteration outcome = scheme.run(networks.alphabeta, 1, of);
    CHECK(outcome.report.makespan().value() ==
          exactly(formula(scheme.cost(1).counted.low.messages, scheme.cost(1).counted.low.words)));
    return outcome;
  };
  const auto same = [&](int) { return gradient; };
  const auto has_dense = [](const Iteration& outcome) {
    const auto& phases = outcome.report.phases;
    return std::find(phases.begin(), phases.end(), "dense_tensors") != phases.end();
  };
  // Saved: 3 (α + (2d/4 - 2k) β) with k = d/101: 5.1e-6 + ... s for the small one, 9e-6 for others.
  const Iteration all = outcome_with(same, 0.0);
  CHECK_FALSE(has_dense(all));
  const Iteration some = outcome_with(same, 5e-6);
  CHECK(has_dense(some));
  CHECK(traffic_in(some, 0, "dense_tensors").messages_sent == 2 * (kRanks - 1));
  CHECK(traffic_in(some, 0, "dense_tensors").words_sent == Words(2 * 3 * 25));
  CHECK(traffic_in(some, 0, "allgather").messages_sent == 2 * (kRanks - 1));
  const Iteration none = outcome_with(same, 1.0);
  CHECK(traffic_in(none, 0, "allgather").messages_sent == 0);
  // Whatever is compressed, values that arrive are the sums.
  for (const Iteration& outcome : {all, some, none}) {
    for (const Entry& entry : std::get<SparseVector>(outcome.results[0].sum).entries()) {
      CHECK((entry.value == kRanks || entry.value == 0));
    }
  }
  CHECK(std::get<SparseVector>(none.results[0].sum).size() == 10'100);
}

}  // namespace thinwire::algorithms
