// The conformance matrix: every scheme gives, on every network, at every P and k, what a serial
// program gives.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire {

using test::Entries;
using test::entries_of;
using test::Iteration;
using test::Oracle;
using test::SchemeRanks;
using test::Shape;

namespace {

using GivenOptions = std::map<std::string, OptionValue>;

/// One rank's result as it should be.
struct Expected {
  Entries sum;  // of all ranks
  std::vector<Entries> contributed;
};

/// topka, serially.
Expected serial_topka(const std::vector<SparseVector>& gradients, std::int64_t k) {
  Expected expected;
  Oracle sum;
  for (const SparseVector& gradient : gradients) {
    expected.contributed.push_back(test::top(entries_of(gradient), k));
    for (const Entry& entry : expected.contributed.back()) sum[entry.coordinate] += entry.value;
  }
  expected.sum = entries_of(sum);
  return expected;
}

/// Algorithm 1 of Ok-Topk, serially.
class SerialOkTopk {
 public:
  SerialOkTopk(int ranks, std::int64_t k, int tau_prime)
      : k_(k), tau_prime_(tau_prime), local_(static_cast<std::size_t>(ranks)) {}

  Expected iterate(const std::vector<SparseVector>& gradients, int iteration) {
    const bool exact = (iteration - 1) % tau_prime_ == 0;
    Oracle sum;
    std::vector<Entries> selected;
    for (std::size_t rank = 0; rank < gradients.size(); ++rank) {
      const Entries entries = entries_of(gradients[rank]);
      if (exact) local_[rank] = test::kth(entries, k_);
      selected.push_back(test::at_least(entries, local_[rank]));
      for (const Entry& entry : selected.back()) sum[entry.coordinate] += entry.value;
    }
    if (exact) global_ = test::kth(entries_of(sum), k_);
    Expected expected{.sum = test::at_least(entries_of(sum), global_), .contributed = {}};
    for (const Entries& entries : selected) {
      Entries kept;
      std::set_intersection(
          entries.begin(), entries.end(), expected.sum.begin(), expected.sum.end(),
          std::back_inserter(kept),
          [](const Entry& a, const Entry& b) { return a.coordinate < b.coordinate; });
      expected.contributed.push_back(std::move(kept));
    }
    return expected;
  }

 private:
  std::int64_t k_;
  int tau_prime_;
  std::vector<float> local_;
  float global_ = 0;
};

bool conforms(const std::vector<Reduced>& results, const Expected& expected) {
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const auto* sum = std::get_if<SparseVector>(&results[rank].sum);
    if (sum == nullptr || entries_of(*sum) != expected.sum) return false;
    if (entries_of(results[rank].contributed) != expected.contributed[rank]) return false;
  }
  return true;
}

/// One column of the matrix: what is fed, at what k.
struct Case {
  int ranks;
  GradientSpace space;
  std::int64_t k;
  Shape shape = Shape::random;
  int wanted = 60;    ///< entries of a rank's gradient
  bool full = false;  ///< every coordinate instead

  [[nodiscard]] SparseVector gradient(int rank, int iteration) const {
    const auto coordinates = static_cast<std::uint32_t>(space.coordinates());
    if (full) return test::full_gradient(coordinates, rank, iteration);
    return test::shaped_gradient(shape, coordinates, ranks, rank, iteration, wanted);
  }
  [[nodiscard]] std::vector<SparseVector> gradients(int iteration) const {
    std::vector<SparseVector> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(gradient(rank, iteration));
    return all;
  }
  [[nodiscard]] std::int64_t carried_k() const { return k / space.granule; }
  [[nodiscard]] std::string text() const {
    return "P = " + std::to_string(ranks) + ", n = " + std::to_string(space.components) +
           ", granule " + std::to_string(space.granule) + ", k = " + std::to_string(k) + ", " +
           (full ? "full" : test::name_of(shape));
  }
};

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

bool topka_conforms(Network& network, const Case& c) {
  SchemeRanks ranks(find_scheme("topka"), c.ranks, c.space, c.k);
  const Iteration outcome = ranks.run(network, 1, [&](int rank) { return c.gradient(rank, 1); });
  return conforms(outcome.results, serial_topka(c.gradients(1), c.carried_k()));
}

/// Iterations 1 to `iterations` one by one.
bool oktopk_conforms(Network& network, const Case& c, const GivenOptions& options, int iterations) {
  SchemeRanks ranks(find_scheme("oktopk"), c.ranks, c.space, c.k, options);
  SerialOkTopk serial(c.ranks, c.carried_k(),
                      static_cast<int>(ranks.setup().options.integer("tau_prime")));
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const Iteration outcome =
        ranks.run(network, iteration, [&](int rank) { return c.gradient(rank, iteration); });
    if (!conforms(outcome.results, serial.iterate(c.gradients(iteration), iteration))) return false;
  }
  return true;
}

// Iterations 1 (both), 2 (reuse), 3 (exact thresholds), 4 (repartition).
const GivenOptions kShortPeriods{{"tau", std::int64_t{3}}, {"tau_prime", std::int64_t{2}}};

GivenOptions with(GivenOptions options, const std::string& name, OptionValue value) {
  options[name] = value;
  return options;
}

std::vector<GivenOptions> oktopk_variants() {
  std::vector<GivenOptions> variants{with(kShortPeriods, "balanced_split", false),
                                     with(kShortPeriods, "rotation", false),
                                     with(kShortPeriods, "bucket", std::int64_t{1}),
                                     with(kShortPeriods, "bucket", std::int64_t{3}),
                                     with(kShortPeriods, "sliding", false),
                                     with(kShortPeriods, "balancing", false),
                                     with(kShortPeriods, "trigger", 0.0),
                                     with(kShortPeriods, "trigger", 1.5),
                                     with(kShortPeriods, "trigger", 1e9)};
  GivenOptions naive = with(kShortPeriods, "balanced_split", false);
  naive = with(naive, "rotation", false);
  naive = with(naive, "bucket", std::int64_t{1});
  naive = with(naive, "sliding", false);
  variants.push_back(with(naive, "balancing", false));
  variants.push_back(with(naive, "trigger", 0.0));
  return variants;
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
        const auto size = static_cast<std::size_t>(space.coordinates());
        std::vector<double> expected(size);
        std::vector<double> bound(size);
        for (int rank = 0; rank < ranks; ++rank) {
          const DenseBlock block = test::dense_gradient(static_cast<std::uint32_t>(size), rank);
          for (std::size_t i = 0; i < size; ++i) {
            expected[i] += block.values()[i];
            bound[i] += std::abs(block.values()[i]) * 0x1p-24 * ranks;
          }
        }
        test::Networks networks;
        for (Network* network : std::array<Network*, 2>{&networks.alphabeta, &networks.counting}) {
          SchemeRanks scheme(info, ranks, space, 0);
          const Iteration outcome = scheme.run(*network, 1, [&](int rank) {
            return test::dense_gradient(static_cast<std::uint32_t>(size), rank);
          });
          bool right = true;
          bool equal = true;
          const auto first = std::get<DenseBlock>(outcome.results[0].sum).values();
          for (const Reduced& result : outcome.results) {
            const auto& block = std::get<DenseBlock>(result.sum);
            const auto values = block.values();
            equal = equal && block.first() == 0 && values.size() == size &&
                    std::memcmp(values.data(), first.data(), size * sizeof(float)) == 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
              right = right && std::abs(values[i] - expected[i]) <= bound[i];
            }
            right = right && result.contributed.size() == 0;
          }
          CHECK(right);
          CHECK(equal);
        }
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
      CHECK(oktopk_conforms(networks.alphabeta, c, kShortPeriods, 4));
      CHECK(oktopk_conforms(networks.counting, c, kShortPeriods, 4));
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
    const GivenOptions options = name == "oktopk" ? kShortPeriods : GivenOptions{};
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
