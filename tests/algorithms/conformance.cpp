// The conformance matrix: every scheme gives, on every network, at every P and k, what a serial
// program gives.
#include "tests/support/conformance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire {

using test::Case;
using test::conforms;
using test::Entries;
using test::entries_of;
using test::Expected;
using test::GivenOptions;
using test::oktopk_conforms;
using test::oktopk_variants;
using test::SchemeRanks;
using test::serial_topka;
using test::SerialOkTopk;
using test::Shape;
using test::topka_conforms;

namespace {

/// k in {0, 1, typical, n}, granule 1 and 4, all shapes.
std::vector<Case> cases_at(int ranks) {
  std::vector<Case> cases;
  for (const std::int64_t granule : {1, 4}) {
    const std::int64_t n = 400 * granule + granule / 2;  // with 4, a last granule that is cut short
    const GradientSpace space{.components = n, .granule = granule};
    for (const Shape shape : test::kShapes) {
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
    CHECK((info.dense || info.name == "topka" || info.name == "oktopk"));
  }
}

TEST_CASE("Dense schemes give every rank the sum within rounding") {
  for (const SchemeInfo& info : all_schemes()) {
    if (!info.dense) continue;
    for (const int ranks : test::kRankCounts) {
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

TEST_CASE("topka gives every rank the sum of the exact local top-k") {
  for (const int ranks : test::kRankCounts) {
    for (const Case& c : cases_at(ranks)) {
      CAPTURE(c.text());
      test::Networks networks;
      CHECK(topka_conforms(networks.alphabeta, c));
      CHECK(topka_conforms(networks.counting, c));
    }
  }
}

TEST_CASE("oktopk gives every rank what Algorithm 1 gives serially") {
  for (const int ranks : test::kRankCounts) {
    for (const Case& c : cases_at(ranks)) {
      CAPTURE(c.text());
      test::Networks networks;
      CHECK(oktopk_conforms(networks.alphabeta, c, test::short_periods(), 4));
      CHECK(oktopk_conforms(networks.counting, c, test::short_periods(), 4));
    }
  }
}

TEST_CASE("oktopk with the periods of the paper gives what Algorithm 1 gives serially") {
  for (const int ranks : {1, 3, 8, 17}) {
    const Case c{.ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24};
    test::Networks networks;
    CHECK(oktopk_conforms(networks.alphabeta, c, {}, 70));
  }
}

TEST_CASE("Every optimisation of oktopk can be switched off without changing the result") {
  for (const int ranks : test::kRankCounts) {
    for (const GivenOptions& options : oktopk_variants()) {
      for (const Shape shape : test::kShapes) {
        const Case c{
            .ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24, .shape = shape};
        CAPTURE(c.text());
        CAPTURE(text_of(options));
        test::Networks networks;
        CHECK(oktopk_conforms(networks.alphabeta, c, options, ranks > 16 ? 2 : 4));
        CHECK(oktopk_conforms(networks.counting, c, options, ranks > 16 ? 1 : 4));
      }
    }
  }
}

TEST_CASE("Values that cancel and thresholds that tie are selected as in the serial program") {
  // Ranks 2i and 2i + 1 cancel, so all sums are 0 and so is the global threshold.
  for (const int ranks : {2, 4, 8, 12, 64}) {
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
      SchemeRanks topka(find_scheme("topka"), ranks, space, k);
      CHECK(
          conforms(topka.run(networks.alphabeta, 1, gradient).results, serial_topka(gradients, k)));
      SchemeRanks oktopk(find_scheme("oktopk"), ranks, space, k);
      SerialOkTopk serial(ranks, k, 32);
      CHECK(conforms(oktopk.run(networks.alphabeta, 1, gradient).results,
                     serial.iterate(gradients, 1)));
    }
  }
}

TEST_CASE("Iterations that run into one another give what they give one by one") {
  constexpr int kIterations = 7;
  for (const std::string name : {"topka", "oktopk"}) {
    const SchemeInfo info = find_scheme(name);
    const GivenOptions options = name == "oktopk" ? test::short_periods() : GivenOptions{};
    for (const int ranks : test::kRankCounts) {
      for (const Shape shape : {Shape::random, Shape::skewed}) {
        const Case c{
            .ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24, .shape = shape};
        CAPTURE(name);
        CAPTURE(c.text());
        test::Networks networks;
        SchemeRanks scheme(info, ranks, c.space, c.k, options);
        const auto results = scheme.run_through(
            networks.alphabeta, kIterations,
            [&](int rank, int iteration) { return c.gradient(rank, iteration); });
        SerialOkTopk serial(ranks, c.carried_k(), 2);
        bool right = true;
        for (int iteration = 1; iteration <= kIterations; ++iteration) {
          const std::vector<SparseVector> gradients = c.gradients(iteration);
          const Expected expected = name == "oktopk" ? serial.iterate(gradients, iteration)
                                                     : serial_topka(gradients, c.carried_k());
          right = right && conforms(results[static_cast<std::size_t>(iteration - 1)], expected);
        }
        CHECK(right);
      }
    }
  }
}

}  // namespace thinwire
