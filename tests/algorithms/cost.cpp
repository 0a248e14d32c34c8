// Simulated time against the formulas.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/sparse.hpp"
#include "traces/synthetic.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::exactly;
using test::formula;
using test::Iteration;
using test::SchemeRanks;

namespace {

using GivenOptions = std::map<std::string, OptionValue>;

double seconds(const Terms& terms, double gamma = 0) {
  return formula(terms.messages, terms.words) + gamma * terms.reduced + terms.seconds;
}

Interval run_interval(const Cost& cost) {
  return {cost.counted.low + cost.added.low, cost.counted.high + cost.added.high};
}

DenseBlock zero_gradients(const GradientSpace& space) {
  return {0, std::vector<float>(static_cast<std::size_t>(space.coordinates()))};
}

/// k/granule entries of a rank, at random places.
SparseVector k_entries(const GradientSpace& space, std::int64_t k, int rank) {
  const std::int64_t entries = k / space.granule;
  const std::int64_t stride = entries == 0 ? 1 : space.coordinates() / entries;
  Entries list;
  for (std::int64_t i = 0; i < entries; ++i) {
    const std::uint64_t bits = random_bits(5, rank, i);
    list.push_back(
        {static_cast<std::uint32_t>(
             i * stride + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(stride))),
         test::whole_value(mix(bits))});
  }
  return SparseVector::checked(list);
}

GivenOptions with(GivenOptions options, const std::string& name, OptionValue value) {
  options[name] = value;
  return options;
}

std::string cost_text_of(const GivenOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += " " + name + "=" + std::visit([](const auto& v) { return std::to_string(v); }, value);
  }
  return text;
}

std::vector<GivenOptions> costed_oktopk_variants() {
  std::vector<GivenOptions> variants{{},
                                     with({}, "balanced_split", false),
                                     with({}, "rotation", false),
                                     with({}, "bucket", std::int64_t{1}),
                                     with({}, "bucket", std::int64_t{4}),
                                     with({}, "sliding", false),
                                     with(with({}, "published", true), "bucket", std::int64_t{4}),
                                     with({}, "balancing", false),
                                     with({}, "trigger", 0.0)};
  GivenOptions naive = with(with({}, "balanced_split", false), "rotation", false);
  naive = with(with(naive, "bucket", std::int64_t{1}), "balancing", false);
  variants.push_back(naive);
  return variants;
}

/// Whether a dense scheme, with the options that it has by itself, costs one value at P.
bool is_exact(const std::string& name, int ranks, std::int64_t n) {
  const auto rabenseifner = [n](int number) {
    const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(number)));
    return core == number || n % core == 0;
  };
  if (name == "dense_rabenseifner" || name == "dense_ovlp") return rabenseifner(ranks);
  if (name == "dense_double_tree" || name.starts_with("dense_auto") ||
      name.find("nccl_") != std::string::npos) {
    return ranks == 1;
  }
  if (name == "dense_nonoverlapping" || name == "powersgd")
    return std::has_single_bit(static_cast<unsigned>(ranks));
  if (name == "alltoall_bruck") return n % ranks == 0;
  if (name == "quantised_alltoall") return n % ranks == 0;
  if (name.rfind("hierarchical_", 0) != 0) return true;
  const int node = std::min(ranks, 8);
  if (ranks % node != 0 || n % node != 0) return false;
  const int nodes = ranks / node;
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes)));
  return name == "hierarchical_ring" || core == nodes || n / node % core == 0;
}

bool balanced(const RunReport& report) {
  return std::find(report.phases.begin(), report.phases.end(), "balance") != report.phases.end();
}

Traffic traffic_in(const RunReport& report, const RankReport& rank, const std::string& phase) {
  for (std::size_t i = 0; i < rank.by_phase.size(); ++i) {
    if (report.phases[i] == phase) return rank.by_phase[i];
  }
  return {};
}

/// Entries at positions in [first, last) of the space, `count` of them, evenly spread.
Entries spread(std::int64_t first, std::int64_t last, std::int64_t count, float value) {
  Entries entries;
  for (std::int64_t i = 0; i < count; ++i) {
    entries.push_back(
        {static_cast<std::uint32_t>(first + (2 * i + 1) * (last - first) / (2 * count)), value});
  }
  return entries;
}

}  // namespace

TEST_CASE("Dense schemes cost their formula at any P whether it divides n or not") {
  for (const SchemeInfo& info : all_schemes()) {
    if (!info.dense) continue;
    for (const int ranks : test::kRankCounts) {
      // A granule makes long gradients cheap.
      for (const GradientSpace space : {GradientSpace{128000, 128}, GradientSpace{128037, 64}}) {
        CAPTURE(info.name);
        CAPTURE(ranks);
        CAPTURE(space.components);
        test::Networks networks;
        SchemeRanks scheme(info, ranks, space, 0);
        const auto gradient = [&](int) { return zero_gradients(space); };
        const Cost cost = scheme.cost(1);
        CHECK(cost.exact == is_exact(info.name, ranks, space.components));
        const Interval terms = run_interval(cost);
        const double time = scheme.run(networks.alphabeta, 1, gradient).report.makespan().value();
        const auto steps =
            static_cast<double>(scheme.run(networks.counting, 1, gradient).report.steps());
        if (cost.exact) {
          CHECK(time == exactly(seconds(terms.low)));
          CHECK(steps == terms.low.messages);
          CHECK(terms.low.messages == terms.high.messages);
          CHECK(terms.low.words == exactly(terms.high.words));
        } else {
          CHECK(time >= seconds(terms.low) * (1 - 1e-9));
          CHECK(time <= seconds(terms.high) * (1 + 1e-9));
          CHECK(steps >= terms.low.messages);
          CHECK(steps <= terms.high.messages);
        }
      }
    }
  }
}

TEST_CASE("Folding in makes short gradients wait no more than the formula of rabenseifner says") {
  const SchemeInfo& info = find_scheme("dense_rabenseifner");
  for (const int ranks : {3, 5, 7, 9, 17, 33, 48}) {
    for (const std::int64_t n : {1, 3, 64, 1000, 100000}) {
      CAPTURE(ranks);
      CAPTURE(n);
      const GradientSpace space{n, 1};
      test::Networks networks;
      SchemeRanks scheme(info, ranks, space, 0);
      const double time =
          scheme.run(networks.alphabeta, 1, [&](int) { return zero_gradients(space); })
              .report.makespan()
              .value();
      const Interval interval = run_interval(scheme.cost(1));
      CHECK(time >= seconds(interval.low) * (1 - 1e-9));
      CHECK(time <= seconds(interval.high) * (1 + 1e-9));
    }
  }
}

TEST_CASE("Short dense gradients cost their formula where it is exact, as the ring at any P") {
  for (const SchemeInfo& info : all_schemes()) {
    if (!info.dense) continue;
    for (const int ranks : test::kRankCounts) {
      for (const std::int64_t n : {1, 2, 10, 63, 64, 1000}) {
        if (!is_exact(info.name, ranks, n)) continue;
        CAPTURE(info.name);
        CAPTURE(ranks);
        CAPTURE(n);
        test::Networks networks;
        const GradientSpace space{.components = n, .granule = 1};
        SchemeRanks scheme(info, ranks, space, 0);
        CHECK(scheme.run(networks.alphabeta, 1, [&](int) { return zero_gradients(space); })
                  .report.makespan()
                  .value() == exactly(seconds(run_interval(scheme.cost(1)).low)));
      }
    }
  }
}

TEST_CASE("topka costs exactly its formula at any P and k") {
  const SchemeInfo& info = find_scheme("topka");
  for (const int ranks : test::kRankCounts) {
    for (const GradientSpace space : {GradientSpace{4096, 1}, GradientSpace{4096 * 8 + 3, 8}}) {
      for (const std::int64_t carried : {0, 1, 100, 4096}) {
        const std::int64_t k = carried * space.granule;
        CAPTURE(ranks);
        CAPTURE(k);
        test::Networks networks;
        SchemeRanks scheme(info, ranks, space, k);
        const auto gradient = [&](int rank) { return k_entries(space, k, rank); };
        const Cost cost = scheme.cost(1);
        CHECK(cost.exact);
        const Terms terms = run_interval(cost).low;
        CHECK(terms.words == 2.0 * static_cast<double>(k) * (ranks - 1));
        CHECK(scheme.run(networks.alphabeta, 1, gradient).report.makespan().value() ==
              exactly(seconds(terms)));
        const RunReport counted = scheme.run(networks.counting, 1, gradient).report;
        CHECK(static_cast<double>(counted.steps()) == terms.messages);
        CHECK(std::all_of(counted.ranks.begin(), counted.ranks.end(), [&](const auto& rank) {
          return static_cast<double>(rank.total().words_received.value()) == terms.words;
        }));
      }
    }
  }
}

TEST_CASE("The papers' terms are the terms of their tables") {
  for (const int ranks : test::kRankCounts) {
    const double p = ranks;
    const double log = std::log2(p);
    const double n = 1000003;
    const double k = 10000;
    const auto paper = [&](const std::string& name) {
      SchemeRanks scheme(find_scheme(name), ranks, {1000003, 1}, 10000);
      return scheme.cost(2).paper;
    };
    const auto is = [](const Terms& terms, double messages, double words) {
      return terms.messages == test::approx(messages) && terms.words == test::approx(words);
    };
    CHECK(is(paper("dense_rabenseifner").low, 2 * log, 2 * n * (p - 1) / p));
    CHECK(is(paper("dense_ring").low, 2 * (p - 1), 2 * n * (p - 1) / p));
    CHECK(is(paper("dense_recursive_doubling").low, log, n * log));
    CHECK(is(paper("dense_double_tree").low, 2 * log, 2 * n));
    CHECK(is(paper("topka").low, log, 2 * k * (p - 1)));
    CHECK(is(paper("oktopk").low, 2 * p + 2 * log, 2 * k * (p - 1) / p));
    CHECK(is(paper("oktopk").high, 2 * p + 2 * log, 6 * k * (p - 1) / p));
  }
}

TEST_CASE("The worked examples of the schemes' comments are right") {
  test::Networks networks;
  {
    SchemeRanks scheme(find_scheme("dense_rabenseifner"), 4, {10, 1}, 0);
    const Cost cost = scheme.cost(1);
    CHECK(cost.paper.low.words == 15);
    CHECK(cost.added.low.words == 3);
    CHECK(scheme.run(networks.alphabeta, 1,
                     [](int) {
                       return zero_gradients({10, 1});
                     })
              .report.makespan()
              .value() == exactly(formula(4, 18)));
  }
  {
    const GradientSpace space{100000, 1};
    SchemeRanks scheme(find_scheme("topka"), 8, space, 1000);
    CHECK(scheme.run(networks.alphabeta, 1, [&](int rank) { return k_entries(space, 1000, rank); })
              .report.makespan()
              .value() == exactly(formula(3, 14000)));
  }
  {
    SchemeRanks scheme(find_scheme("oktopk"), 4, {100000, 1}, 1000);
    const SparseVector same = SparseVector::checked(spread(0, 100000, 1000, 1.0F));
    static_cast<void>(scheme.run(networks.alphabeta, 1, [&](int) { return same; }));
    CHECK(scheme.run(networks.alphabeta, 2, [&](int) { return same; }).report.makespan().value() ==
          exactly(formula(7, 3003)));
  }
}

TEST_CASE("Every rank is charged for reducing though the simulator does it once") {
  constexpr double kGamma = 2.5e-10;
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    test::Networks networks;
    {
      const GradientSpace space{64000, 8};
      const std::int64_t k = 800;
      SchemeRanks scheme(find_scheme("topka"), ranks, space, k, {}, Seconds(kGamma));
      const Iteration outcome =
          scheme.run(networks.alphabeta, 1, [&](int rank) { return k_entries(space, k, rank); });
      const double charged = kGamma * static_cast<double>(k) * (ranks - 1);
      const double time = seconds(run_interval(scheme.cost(1)).low) + charged;
      bool all = true;
      for (const RankReport& rank : outcome.report.ranks) {
        all = all && rank.finished.value() == exactly(time);
        all = all && rank.by_phase.back().time.value() == exactly(charged);
      }
      CHECK(all);
      CHECK(outcome.report.phases.back() == "local_reduction");
      CHECK(scheme.computed() == 1);
    }
    if ((ranks & (ranks - 1)) != 0) continue;
    const GradientSpace space{64000, 8};
    const double n = 64000;
    const double p = ranks;
    const auto dense_time = [&](const std::string& name) {
      SchemeRanks scheme(find_scheme(name), ranks, space, 0, {}, Seconds(kGamma));
      const Iteration outcome =
          scheme.run(networks.alphabeta, 1, [&](int) { return zero_gradients(space); });
      const double first = outcome.report.ranks[0].finished.value();
      for (const RankReport& rank : outcome.report.ranks) {
        CHECK(rank.finished.value() == exactly(first));
      }
      return first - seconds(run_interval(scheme.cost(1)).low);
    };
    const auto about = [&](double words) {
      return test::approx(kGamma * words).epsilon(1e-6).scale(1e-12);
    };
    CHECK(dense_time("dense_rabenseifner") == about(n * (p - 1) / p));
    CHECK(dense_time("dense_ring") == about(n * (p - 1) / p));
    CHECK(dense_time("dense_recursive_doubling") == about(n * std::log2(p)));
  }
}

TEST_CASE("oktopk charges for reducing what later exchanges do not hide") {
  const GradientSpace space{100000, 1};
  const std::int64_t k = 1000;
  const SparseVector same = SparseVector::checked(spread(0, 100000, 1000, 1.0F));
  constexpr int kRanks = 4;
  const double gamma = 10 * test::kBeta.value();  // longer than the messages
  const auto time = [&](const GivenOptions& options) {
    test::Networks networks;
    SchemeRanks scheme(find_scheme("oktopk"), kRanks, space, k, options, Seconds(gamma));
    static_cast<void>(scheme.run(networks.alphabeta, 1, [&](int) { return same; }));
    return scheme.run(networks.alphabeta, 2, [&](int) { return same; }).report.makespan().value();
  };
  const double reduce = gamma * 250;
  CHECK(time({{"bucket", std::int64_t{1}}}) == exactly(formula(7, 3003) + 3 * reduce));
  // The three exchanges share the ports and end together, so that none hides a sum.
  CHECK(time({}) == exactly(formula(7, 3003) + 3 * reduce));
}

TEST_CASE("oktopk reaches its lower end where every rank selects in its own region") {
  // Theorem 3.1: k/P entries of each rank, in the region that it reduces, and all of them global.
  for (const int ranks : test::kRankCounts) {
    for (const bool own_only : {true, false}) {
      CAPTURE(ranks);
      CAPTURE(own_only);
      const std::int64_t each = 40;
      const std::int64_t k = each * ranks;
      const GradientSpace space{.components = std::int64_t{1000} * ranks, .granule = 1};
      const auto gradient = [&](int rank) {
        // Either k/P entries, or k of which k/P are global.
        Entries entries = spread(1000 * rank, 1000 * (rank + 1), own_only ? each : k % 1000, 1.0F);
        for (std::size_t i = 0; i < entries.size(); ++i) {
          if (i % (entries.size() / static_cast<std::size_t>(each)) == 0) entries[i].value = 9.0F;
        }
        return SparseVector::checked(entries);
      };
      if (!own_only && k >= 1000) continue;
      test::Networks networks;
      SchemeRanks scheme(find_scheme("oktopk"), ranks, space, k, {{"balanced_split", false}});
      for (const int iteration : {1, 2}) {  // 1 sets the global threshold
        CAPTURE(iteration);
        const double low = seconds(run_interval(scheme.cost(iteration)).low);
        const double time =
            scheme.run(networks.alphabeta, iteration, gradient).report.makespan().value();
        if (own_only || iteration == 2) {
          CHECK(time == exactly(low));
        } else {
          CHECK(time >= low * (1 - 1e-9));
        }
      }
    }
  }
}

TEST_CASE("oktopk stays within its interval in all variants for synthetic gradients") {
  for (const int ranks : test::kRankCounts) {
    if (test::kSanitized && ranks > 3) continue;
    for (const GivenOptions& options : costed_oktopk_variants()) {
      for (const double overlap : {0.0, 0.5, 1.0}) {
        for (const double skew : {0.0, 1.5}) {
          for (const std::int64_t k : {64, 400, 1600}) {
            const double gamma = k == 400 ? 2 * test::kBeta.value() : 0;
            CAPTURE(ranks);
            CAPTURE(cost_text_of(options));
            CAPTURE(overlap);
            CAPTURE(skew);
            CAPTURE(k);
            const GradientSpace space{.components = 40000, .granule = 1};
            const traces::SyntheticSource source(
                {.ranks = ranks, .space = space, .k = k, .overlap = overlap, .skew = skew});
            test::Networks networks;
            SchemeRanks scheme(find_scheme("oktopk"), ranks, space, k, options, Seconds(gamma));
            for (const int iteration : {1, 2}) {
              CAPTURE(iteration);
              const Interval interval = run_interval(scheme.cost(iteration));
              // The same gradient again, so that the thresholds that are reused are exact.
              const Iteration outcome = scheme.run(networks.alphabeta, iteration, [&](int rank) {
                return source.sparse(Rank(rank), 1);
              });
              const double time = outcome.report.makespan().value();
              CHECK(time >= seconds(interval.low, gamma) * (1 - 1e-9));
              const Terms high = interval.high;
              CHECK(time <= seconds(high, gamma) * (1 + 1e-9));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("oktopk with reused thresholds stays within its interval for what was selected") {
  // Magnitudes are drawn anew in each iteration, so a reused threshold selects more or less than k.
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    const GradientSpace space{.components = 40000, .granule = 1};
    const std::int64_t k = 400;
    const traces::SyntheticSource source(
        {.ranks = ranks, .space = space, .k = k, .overlap = 0.5, .drift = 0.3, .scale_drift = 0.1});
    test::Networks networks;
    SchemeRanks scheme(find_scheme("oktopk"), ranks, space, k,
                       {{"tau", std::int64_t{3}}, {"tau_prime", std::int64_t{4}}});
    for (int iteration = 1; iteration <= 9; ++iteration) {
      CAPTURE(iteration);
      const Iteration outcome = scheme.run(networks.alphabeta, iteration, [&](int rank) {
        return source.sparse(Rank(rank), iteration);
      });
      // k as it came out: of the result, and of the split at the rank that has most to do.
      const auto result =
          static_cast<std::int64_t>(std::get<SparseVector>(outcome.results[0].sum).size());
      std::int64_t words = 0;
      for (const RankReport& rank : outcome.report.ranks) {
        const Traffic split = traffic_in(outcome.report, rank, "split_and_reduce");
        words = std::max({words, split.words_sent.value(), split.words_received.value()});
      }
      const std::int64_t split = words / 2 * ranks / std::max(1, ranks - 1) + 1;
      const auto interval_for = [&](std::int64_t selected) {
        return run_interval(find_scheme("oktopk").cost({.ranks = ranks,
                                                        .n = space.components,
                                                        .k = selected,
                                                        .iteration = iteration,
                                                        .options = &scheme.setup().options}));
      };
      const double time = outcome.report.makespan().value();
      CHECK(time >= seconds(interval_for(std::min(k, result)).low) * (1 - 1e-9));
      const Terms high = interval_for(std::max({k, result, split})).high;
      CHECK(time <= seconds(high) * (1 + 1e-9));
    }
  }
}

TEST_CASE("oktopk balances where all global values lie in one region") {
  for (const int ranks : test::kRankCounts) {
    if (ranks < 5) continue;  // the largest cannot be more than P times the mean, and 4 is needed
    for (const std::int64_t granule : {1, 256}) {  // messages shorter than α, and much longer
      CAPTURE(ranks);
      CAPTURE(granule);
      // Every rank selects k/P entries in each region; the entries of region 0 are larger than the
      // others and no two ranks have the same, so that they are the k global ones.
      const std::int64_t each = 20;
      const std::int64_t width = 4 * each * ranks;
      const GradientSpace space{.components = width * ranks * granule, .granule = granule};
      const std::int64_t k = each * ranks * granule;
      const auto gradient = [&](int rank) {
        Entries entries;
        for (int region = 0; region < ranks; ++region) {
          for (std::int64_t i = 0; i < each; ++i) {
            const std::int64_t place = region * width + 4 * (i * ranks + rank);
            entries.push_back({static_cast<std::uint32_t>(place), region == 0 ? 9.0F : 1.0F});
          }
        }
        return SparseVector::checked(entries);
      };
      for (const bool balancing : {true, false}) {
        CAPTURE(balancing);
        test::Networks networks;
        SchemeRanks scheme(find_scheme("oktopk"), ranks, space, k,
                           {{"balancing", balancing}, {"balanced_split", false}});
        static_cast<void>(scheme.run(networks.alphabeta, 1, gradient));
        const Iteration outcome = scheme.run(networks.alphabeta, 2, gradient);
        CHECK(std::get<SparseVector>(outcome.results[0].sum).size() ==
              static_cast<std::size_t>(each * ranks));
        CHECK(balanced(outcome.report) == balancing);
        // The equal regions happen to be balanced, so the interval is the same as for balanced ones.
        const Options with_balanced_regions(find_scheme("oktopk").options,
                                            {{"balancing", balancing}});
        const Cost cost = find_scheme("oktopk").cost({.ranks = ranks,
                                                      .n = space.components,
                                                      .k = k,
                                                      .iteration = 2,
                                                      .options = &with_balanced_regions});
        const Interval interval = run_interval(cost);
        const double time = outcome.report.makespan().value();
        const Terms high = interval.high;
        CHECK(time > seconds(interval.low));
        CHECK(time <= seconds(high) * (1 + 1e-9));
        if (balancing) {
          // Region 0 sends each other rank its part of the k entries.
          const Traffic moved = traffic_in(outcome.report, outcome.report.ranks[0], "balance");
          const auto words = 2 * each * granule * (ranks - 1);
          CHECK(moved.messages_sent == ranks - 1);
          CHECK(moved.words_sent == Words(words));
          CHECK(moved.time.value() == exactly(formula(ranks - 1, static_cast<double>(words))));
        } else {
          // A direct allgatherv of one piece: all of it in every step.
          CHECK(time >= seconds(cost.counted.high + cost.added.low) * (1 - 1e-9));
        }
      }
    }
  }
}

TEST_CASE("Balancing is triggered above a multiple of the mean and not at it") {
  // Two ranks; region 0 holds all entries, so the largest size is exactly twice the mean.
  const GradientSpace space{.components = 1000, .granule = 1};
  const auto balances = [&](double trigger) {
    test::Networks networks;
    SchemeRanks scheme(find_scheme("oktopk"), 2, space, 10,
                       {{"trigger", trigger}, {"balanced_split", false}});
    const SparseVector selected = SparseVector::checked(spread(0, 500, 10, 1.0F));
    return balanced(scheme.run(networks.alphabeta, 1, [&](int) { return selected; }).report);
  };
  CHECK(balances(0.0));
  CHECK(balances(1.999));
  CHECK_FALSE(balances(2.0));
  CHECK_FALSE(balances(4.0));
}

TEST_CASE("Rabenseifner of few words stays within its interval however short alpha is") {
  for (const int ranks : {2, 4, 8, 16, 32, 64}) {
    for (const std::int64_t n :
         {1, 3, 5, 17, 18, 33, 65, 66, 83, 100, 129, 188, 191, 255, 256, 300}) {
      for (const double alpha : {0.0, 1e-9, 1e-8}) {
        CAPTURE(ranks);
        CAPTURE(n);
        CAPTURE(alpha);
        networks::AlphaBetaNetwork network(networks::alpha_beta(Seconds(alpha), test::kBeta));
        const GradientSpace space{.components = n, .granule = 1};
        SchemeRanks scheme(find_scheme("dense_rabenseifner"), ranks, space, 0);
        const Interval interval = run_interval(scheme.cost(1));
        const auto in_seconds = [&](const Terms& terms) {
          return alpha * terms.messages + test::kBeta.value() * terms.words;
        };
        const double time = scheme.run(network, 1, [&](int) { return zero_gradients(space); })
                                .report.makespan()
                                .value();
        CHECK(time >= in_seconds(interval.low) * (1 - 1e-9));
        CHECK(time <= in_seconds(interval.high) * (1 + 1e-9));
      }
    }
  }
}

namespace {

/// One scheme at random n, k, skew, overlap, granule and γ, for some iterations.
void check_interval(const SchemeInfo& info, int ranks, test::Generator& generator, int draw,
                    int iterations) {
  const std::int64_t granule = draw % 3 == 0 ? 8 : 1;
  const GradientSpace space{.components = 20000 * granule + test::below(generator, 100),
                            .granule = granule};
  const std::int64_t k = granule * (test::below(generator, draw % 4 == 0 ? 15000 : 1500));
  const double overlap = static_cast<double>(test::below(generator, 101)) / 100;
  const double skew = static_cast<double>(test::below(generator, 300)) / 100;
  const double gamma = draw % 2 == 0 ? 0 : 2 * test::kBeta.value();
  CAPTURE(info.name);
  CAPTURE(ranks);
  CAPTURE(space.components);
  CAPTURE(k);
  CAPTURE(overlap);
  CAPTURE(skew);
  CAPTURE(gamma);
  const traces::SyntheticSource source(
      {.ranks = ranks, .space = space, .k = k, .overlap = overlap, .skew = skew, .drift = 0.2});
  test::Networks networks;
  GivenOptions options;
  if (info.name.rfind("dragonn", 0) == 0) options["tensor_selection"] = draw % 2 == 0;
  SchemeRanks scheme(info, ranks, space, k, options, Seconds(gamma), 1, {},
                     {test::kAlpha, test::kBeta});
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    CAPTURE(iteration);
    const Iteration outcome = scheme.run(networks.alphabeta, iteration, [&](int rank) {
      return source.sparse(Rank(rank), iteration);
    });
    std::optional<std::int64_t> result;
    if (const auto* sum = std::get_if<SparseVector>(&outcome.results[0].sum)) {
      result = static_cast<std::int64_t>(sum->size()) * granule;
    }
    const Cost cost = scheme.cost(iteration, test::selected_counts(outcome, info, granule), result);
    const Interval interval = run_interval(cost);
    const double time = outcome.report.makespan().value();
    const double low = seconds(interval.low, gamma);
    const double high = seconds(interval.high, gamma);
    CHECK(time >= low * (1 - 1e-9));
    CHECK(time <= high * (1 + 1e-9));
    if (cost.exact) CHECK(low == exactly(high));
  }
}

}  // namespace

TEST_CASE("Every sparse scheme stays within its interval for random profiles") {
  test::Generator generator(41);
  for (const SchemeInfo& info : all_schemes()) {
    if (info.dense || info.name == "oktopk") continue;  // oktopk has tests of its own
    for (const int ranks : test::kRankCounts) {
      if (test::kSanitized && ranks > 12) continue;
      for (int draw = 0; draw < (test::kSanitized ? 1 : 6); ++draw) {
        check_interval(info, ranks, generator, draw, 2);
      }
    }
  }
}

TEST_CASE("Every leader of cltk leaves it within its interval") {
  test::Generator generator(42);
  for (const int ranks : {3, 5, 9, 10, 17, 18}) {
    for (int draw = 0; draw < 4; ++draw) {
      check_interval(find_scheme("cltk"), ranks, generator, draw, ranks);
    }
  }
}

TEST_CASE("Every scheme stays within its interval with every sparsifier that it carries") {
  test::Generator generator(43);
  for (const SchemeInfo& scheme : all_schemes()) {
    if (scheme.dense || scheme.name == "oktopk") continue;
    for (const SparsifierInfo& sparsifier : all_sparsifiers()) {
      const std::string name = scheme.name + "+" + sparsifier.name;
      if (!can_compose(scheme, sparsifier)) {
        CHECK_THROWS_AS(static_cast<void>(find_scheme(name)), InputError);
        continue;
      }
      const SchemeInfo& info = find_scheme(name);
      for (const int ranks : {1, 3, 8, 16}) {
        if (test::kSanitized && ranks > 3) continue;
        check_interval(info, ranks, generator, ranks, 3);
      }
    }
  }
}

TEST_CASE("Dense schemes stay within their interval with gamma at any P") {
  test::Generator generator(44);
  const double gamma = 2 * test::kBeta.value();
  for (const SchemeInfo& info : all_schemes()) {
    if (!info.dense) continue;
    for (const int ranks : test::kRankCounts) {
      for (int draw = 0; draw < 4; ++draw) {
        const GradientSpace space{.components = 1 + test::below(generator, 100000), .granule = 64};
        CAPTURE(info.name);
        CAPTURE(ranks);
        CAPTURE(space.components);
        test::Networks networks;
        SchemeRanks scheme(info, ranks, space, 0, {}, Seconds(gamma));
        const Interval interval = run_interval(scheme.cost(1));
        const double time =
            scheme.run(networks.alphabeta, 1, [&](int) { return zero_gradients(space); })
                .report.makespan()
                .value();
        CHECK(time >= seconds(interval.low, gamma) * (1 - 1e-9));
        CHECK(time <= seconds(interval.high, gamma) * (1 + 1e-9));
      }
    }
  }
}

}  // namespace thinwire::algorithms
