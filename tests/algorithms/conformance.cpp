// The conformance matrix: every scheme gives, on every network, at every P and k, what a serial
// program gives.
#include "tests/support/conformance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::Case;
using test::conforms;
using test::Entries;
using test::entries_of;
using test::Expected;
using test::GivenOptions;
using test::oktopk_variants;
using test::SchemeRanks;
using test::serial_scheme;
using test::Shape;
using test::sparse_conforms;

namespace {

/// k in {0, 1, typical, n}, granule 1 and 4, all shapes.
std::vector<Case> cases_at(int ranks) {
  std::vector<Case> cases;
  for (const std::int64_t granule : {1, 4}) {
    const std::int64_t n = 400 * granule + granule / 2;  // with 4, a last granule that is cut short
    const GradientSpace space{.components = n, .granule = granule};
    for (const Shape shape : test::kShapes) {
      if (test::kSanitized && granule == 1 && shape != Shape::random) continue;
      for (const std::int64_t k : {std::int64_t{0}, granule, 24 * granule, 400 * granule}) {
        cases.push_back({.ranks = ranks, .space = space, .k = k, .shape = shape});
      }
    }
    for (const std::int64_t k : {24 * granule, 400 * granule}) {
      cases.push_back({.ranks = ranks, .space = space, .k = k, .full = true});
    }
  }
  return cases;
}

std::string text_of(const GivenOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += " " + name + "=" + std::visit([](const auto& v) { return std::to_string(v); }, value);
  }
  return text;
}

}  // namespace

TEST_CASE("Every scheme of the registry is in the conformance matrix") {
  for (const SchemeInfo& info : all_schemes()) {
    CAPTURE(info.name);
    if (info.dense) continue;
    const SchemeRanks ranks(info, 2, {.components = 10, .granule = 1}, 2);
    CHECK(serial_scheme(info, ranks.setup()) != nullptr);
  }
}

TEST_CASE("What a scheme sends approximately, and what comes back, is as the registry says") {
  constexpr int kRanks = 8;
  const Case c{
      .ranks = kRanks, .space = {.components = 4000, .granule = 1}, .k = 400, .wanted = 600};
  for (const SchemeInfo& info : all_schemes()) {
    if (info.dense) continue;
    CAPTURE(info.name);
    test::Networks networks;
    SchemeRanks ranks(info, kRanks, c.space, c.k, test::short_periods_of(info));
    bool approximate = false;
    bool returned = false;
    for (int iteration = 1; iteration <= 4; ++iteration) {
      const auto outcome = ranks.run(networks.alphabeta, iteration,
                                     [&](int rank) { return c.gradient(rank, iteration); });
      for (const Reduced& result : outcome.results) {
        approximate = approximate || result.sent_approximately;
        returned = returned || result.returned.size() > 0;
      }
    }
    CHECK(info.approximate == approximate);
    CHECK(info.returns_dropped == returned);
  }
}

TEST_CASE("Dense schemes give every rank the sum within rounding") {
  for (const SchemeInfo& info : all_schemes()) {
    if (!info.dense || info.approximate) continue;
    for (const int ranks : test::kRankCounts) {
      if (test::kSanitized && ranks > 8) continue;
      for (const GradientSpace space : {GradientSpace{960, 1}, GradientSpace{997, 1},
                                        GradientSpace{5, 1}, GradientSpace{997, 4}}) {
        CAPTURE(info.name);
        CAPTURE(ranks);
        CAPTURE(space.components);
        CAPTURE(space.granule);
        test::Networks networks;
        CHECK(test::dense_conforms(networks.alphabeta, info, ranks, space));
        CHECK(test::dense_conforms(networks.counting, info, ranks, space));
      }
    }
  }
}

TEST_CASE("Quantised schemes give every rank the sum of what the ranks sent") {
  for (const SchemeInfo& info : all_schemes()) {
    // Of low rank: schemes/powersgd.cpp.
    if (!info.dense || !info.approximate || info.name == "powersgd") continue;
    for (const int ranks : test::kRankCounts) {
      if (test::kSanitized && ranks > 3) continue;
      for (const GradientSpace space :
           {GradientSpace{960, 1}, GradientSpace{1, 1}, GradientSpace{5000, 4}}) {
        CAPTURE(info.name);
        CAPTURE(ranks);
        CAPTURE(space.components);
        const auto gradient = [&](int rank) {
          return test::dense_gradient(static_cast<std::uint32_t>(space.coordinates()), rank);
        };
        test::Networks networks;
        for (Network* network : std::array<Network*, 2>{&networks.alphabeta, &networks.counting}) {
          SchemeRanks scheme(info, ranks, space, 0);
          const auto outcome = scheme.run(*network, 1, gradient);
          std::vector<double> sum(static_cast<std::size_t>(space.coordinates()));
          bool right = true;
          for (int rank = 0; rank < ranks; ++rank) {
            const auto& sent =
                std::get<DenseBlock>(outcome.results[static_cast<std::size_t>(rank)].contributed);
            const DenseBlock given = gradient(rank);
            for (std::size_t i = 0; i < sum.size(); ++i) {
              const float value = given.values()[i];
              sum[i] += sent.values()[i];
              right = right && (sent.values()[i] == 0 || (value < 0) == (sent.values()[i] < 0));
            }
          }
          // The sum may be quantised again, to 8 bits.
          double largest = 0;
          for (const double value : sum) largest = std::max(largest, std::abs(value));
          const double again = info.name == "quantised_alltoall" ? largest / 127 : 0;
          for (const Reduced& result : outcome.results) {
            const auto values = std::get<DenseBlock>(result.sum).values();
            right = right && values.size() == sum.size();
            for (std::size_t i = 0; right && i < sum.size(); ++i) {
              right = std::abs(values[i] - sum[i]) <= again + 1e-5 * ranks * (1 + std::abs(sum[i]));
            }
          }
          CHECK(right);
        }
      }
    }
  }
}

TEST_CASE("Quantised results are unbiased, and off by no more than the quantisers' bound") {
  // The mean over seeds comes to the true sum as 1/sqrt(seeds) does.
  constexpr int kSeeds = 400;
  constexpr int kRanks = 4;
  const GradientSpace space{.components = 64, .granule = 1};
  const auto dense = [&](int rank) { return test::dense_gradient(64, rank); };
  const auto sparse = [&](int rank) { return test::full_gradient(64, rank, 1); };
  for (const std::int64_t bits : {2, 4, 8}) {
    for (const std::string name : {"qsgd", "dsar_split_allgather", "quantised_alltoall"}) {
      CAPTURE(bits);
      CAPTURE(name);
      const SchemeInfo& info = find_scheme(name);
      std::vector<double> truth(64);
      double largest = 0;  // of a rank's values for qsgd, of the sums for dsar
      for (int rank = 0; rank < kRanks; ++rank) {
        for (std::size_t i = 0; i < 64; ++i) {
          const float value =
              info.dense ? dense(rank).values()[i] : sparse(rank).entries()[i].value;
          truth[i] += value;
          if (info.dense) largest = std::max<double>(largest, std::abs(value));
        }
      }
      if (!info.dense) {
        for (const double value : truth) largest = std::max(largest, std::abs(value));
      }
      const double levels = static_cast<double>((1 << (bits - 1)) - 1);
      const double once = (info.dense ? kRanks : 1) * largest / levels;
      // What is quantised again is the sum, which may be off already.
      const double bound = name == "quantised_alltoall" ? once * (2 + 1 / levels) : once;
      std::vector<double> mean(64);
      bool within = true;
      for (int seed = 1; seed <= kSeeds; ++seed) {
        test::Networks networks;
        SchemeRanks scheme(info, kRanks, space, 64, {{"bits", bits}}, Seconds(0),
                           static_cast<std::uint64_t>(seed));
        const auto gradient = [&](int rank) -> algorithms::LocalGradient {
          if (info.dense) return dense(rank);
          return sparse(rank);
        };
        const auto outcome = scheme.run(networks.counting, 1, gradient);
        const auto values = std::get<DenseBlock>(outcome.results[0].sum).values();
        for (std::size_t i = 0; i < 64; ++i) {
          within = within && std::abs(values[i] - truth[i]) <= bound * (1 + 1e-5);
          mean[i] += values[i] / static_cast<double>(kSeeds);
        }
      }
      CHECK(within);
      double worst = 0;
      for (std::size_t i = 0; i < 64; ++i) {
        REQUIRE(std::isfinite(mean[i]));
        worst = std::max(worst, std::abs(mean[i] - truth[i]));
      }
      // A value's variance, or each rank's, is at most (bound / 2)^2; four deviations.
      CHECK(worst < 4 * bound / 2 / std::sqrt(kSeeds));
      CHECK(worst > 0);
    }
  }
}

TEST_CASE("Every sparse scheme gives every rank what a serial program gives") {
  for (const SchemeInfo& info : all_schemes()) {
    if (info.dense) continue;
    const GivenOptions options = test::short_periods_of(info);
    for (const int ranks : test::kRankCounts) {
      if (test::kSanitized && ranks != 1 && ranks != 3) continue;
      if (ranks == 16 || ranks == 32) continue;  // 8 and 64 are powers of two as well
      const int iterations = ranks > 16 || test::kSanitized ? 2 : 4;
      for (const Case& c : cases_at(ranks)) {
        CAPTURE(info.name);
        CAPTURE(c.text());
        test::Networks networks;
        CHECK(sparse_conforms(networks.alphabeta, info.name, c, options, iterations));
        CHECK(sparse_conforms(networks.counting, info.name, c, options, iterations));
      }
    }
  }
}

TEST_CASE("Every scheme gives what its serial program gives with every sparsifier") {
  for (const SchemeInfo& scheme : all_schemes()) {
    if (scheme.dense) continue;
    for (const SparsifierInfo& sparsifier : all_sparsifiers()) {
      if (!can_compose(scheme, sparsifier)) continue;
      const std::string name = scheme.name + "+" + sparsifier.name;
      const GivenOptions options = test::short_periods_of(find_scheme(name));
      for (const int ranks : {1, 3, 8}) {
        if (test::kSanitized && ranks != 3) continue;
        for (const std::int64_t granule : {1, 4}) {
          const Case c{.ranks = ranks,
                       .space = {.components = 400 * granule, .granule = granule},
                       .k = 24 * granule,
                       .shape = Shape::skewed};
          CAPTURE(name);
          CAPTURE(c.text());
          test::Networks networks;
          CHECK(sparse_conforms(networks.counting, name, c, options, 5));
        }
      }
    }
  }
}

TEST_CASE("With a reused threshold every leader of cltk selects k when its turn has come") {
  const Case c{.ranks = 4, .space = {.components = 400, .granule = 1}, .k = 24, .full = true};
  SchemeRanks ranks(find_scheme("cltk+threshold_reuse"), c.ranks, c.space, c.k);
  test::Networks networks;
  for (int iteration = 1; iteration <= 9; ++iteration) {
    const auto outcome =
        ranks.run(networks.counting, iteration, [&](int rank) { return c.gradient(rank, 1); });
    CHECK(std::get<SparseVector>(outcome.results[0].sum).size() == 24);
  }
}

TEST_CASE("oktopk with the periods of the paper gives what Algorithm 1 gives serially") {
  for (const int ranks : {1, 3, 8, 17}) {
    const Case c{.ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24};
    test::Networks networks;
    CHECK(sparse_conforms(networks.alphabeta, "oktopk", c, {}, 70));
  }
}

TEST_CASE("Every optimisation of oktopk can be switched off without changing the result") {
  for (const int ranks : test::kRankCounts) {
    if (test::kSanitized && ranks > 3) continue;
    for (const GivenOptions& options : oktopk_variants()) {
      for (const Shape shape : test::kShapes) {
        const Case c{
            .ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24, .shape = shape};
        CAPTURE(c.text());
        CAPTURE(text_of(options));
        test::Networks networks;
        CHECK(sparse_conforms(networks.alphabeta, "oktopk", c, options, ranks > 16 ? 2 : 4));
        CHECK(sparse_conforms(networks.counting, "oktopk", c, options, ranks > 16 ? 1 : 4));
      }
    }
  }
}

TEST_CASE("Values that cancel and thresholds that tie are selected as in the serial program") {
  // Ranks 2i and 2i + 1 cancel, so all sums are 0 and so is the global threshold.
  for (const int ranks : {2, 4, 8, 12, 64}) {
    if (test::kSanitized && ranks > 8) continue;
    const GradientSpace space{.components = 400, .granule = 1};
    const auto gradient = [&](int rank) {
      Entries entries =
          entries_of(test::shaped_gradient(Shape::random, 400, ranks, rank / 2, 1, 60));
      for (Entry& entry : entries) {
        entry.value = (rank % 2 == 0 ? 1.0F : -1.0F) * std::round(entry.value / 65536.0F);
      }
      return SparseVector::checked(entries);
    };
    std::vector<SparseVector> gradients;
    for (int rank = 0; rank < ranks; ++rank) gradients.push_back(gradient(rank));
    test::Networks networks;
    for (const std::int64_t k : {1, 24, 400}) {
      for (const SchemeInfo& info : all_schemes()) {
        if (info.dense) continue;
        CAPTURE(info.name);
        SchemeRanks scheme(info, ranks, space, k, test::short_periods_of(info));
        const auto serial = serial_scheme(info, scheme.setup());
        CHECK(conforms(scheme.run(networks.alphabeta, 1, gradient).results,
                       serial->iterate(gradients, 1)));
      }
    }
  }
}

TEST_CASE("Iterations that run into one another give what they give one by one") {
  constexpr int kIterations = 7;
  for (const SchemeInfo& info : all_schemes()) {
    if (info.dense) continue;
    const GivenOptions options = test::short_periods_of(info);
    for (const int ranks : {1, 2, 3, 8, 12, 17}) {
      if (test::kSanitized && ranks > 3) continue;
      for (const Shape shape : {Shape::random, Shape::skewed}) {
        const Case c{
            .ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24, .shape = shape};
        CAPTURE(info.name);
        CAPTURE(c.text());
        test::Networks networks;
        SchemeRanks scheme(info, ranks, c.space, c.k, options);
        const auto results = scheme.run_through(
            networks.alphabeta, kIterations,
            [&](int rank, int iteration) { return c.gradient(rank, iteration); });
        const auto serial = serial_scheme(info, scheme.setup());
        bool right = true;
        for (int iteration = 1; iteration <= kIterations; ++iteration) {
          const Expected expected = serial->iterate(c.gradients(iteration), iteration);
          right = right && conforms(results[static_cast<std::size_t>(iteration - 1)], expected);
        }
        CHECK(right);
      }
    }
  }
}

}  // namespace thinwire::algorithms
