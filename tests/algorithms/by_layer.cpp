#include "algorithms/by_layer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::Case;
using test::contains;
using test::Entries;
using test::error_of;
using test::Expected;
using test::GivenOptions;
using test::SchemeRanks;
using test::Shape;

namespace {

/// Layers of uneven lengths, which the granule divides except in the last.
std::vector<std::int64_t> layers_of(std::int64_t granule) {
  return {120 * granule, granule, 79 * granule, 200 * granule + granule / 2};
}

std::int64_t whole_of(const std::vector<std::int64_t>& lengths) {
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) sum += length;
  return sum;
}

bool can_go_by_layer(const SchemeInfo& info) {
  try {
    static_cast<void>(layer_by_layer(info, {1}));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// The entries of a layer, counted from its beginning.
SparseVector in_layer(const SparseVector& gradient, std::int64_t first, std::int64_t last) {
  Entries entries;
  for (Entry entry : test::entries_of(gradient)) {
    if (entry.coordinate < first || entry.coordinate >= last) continue;
    entry.coordinate -= static_cast<std::uint32_t>(first);
    entries.push_back(entry);
  }
  return SparseVector::checked(entries);
}

void append(Entries& to, const Entries& layer, std::int64_t first) {
  for (Entry entry : layer) {
    entry.coordinate += static_cast<std::uint32_t>(first);
    to.push_back(entry);
  }
}

/// Runs a scheme layer by layer and compares it with a serial program for each layer.
bool layers_conform(Network& network, const SchemeInfo& info, const Case& c,
                    const GivenOptions& options, int iterations) {
  const std::int64_t granule = c.space.granule;
  const std::vector<std::int64_t> layers = layers_of(granule);
  SchemeRanks all(layer_by_layer(info, layers), c.ranks, c.space, c.k, options);
  std::vector<std::unique_ptr<SchemeRanks>> parts;
  std::vector<std::unique_ptr<test::SerialScheme>> serial;
  std::int64_t before = 0;
  for (const std::int64_t length : layers) {
    const double density = static_cast<double>(c.k) / static_cast<double>(c.space.components);
    std::int64_t k = granule * std::llround(density * static_cast<double>(length) /
                                            static_cast<double>(granule));
    if (c.k > 0) k = std::max(k, granule);
    const GradientSpace space{.components = length, .granule = granule};
    parts.push_back(std::make_unique<SchemeRanks>(info, c.ranks, space, k, options, Seconds(0),
                                                  static_cast<std::uint64_t>(1 + before)));
    serial.push_back(test::serial_scheme(info, parts.back()->setup()));
    before += length;
  }
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    Expected expected;
    expected.contributed.resize(static_cast<std::size_t>(c.ranks));
    std::int64_t first = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::int64_t last = first + parts[i]->setup().space.coordinates();
      std::vector<SparseVector> gradients;
      for (const SparseVector& gradient : c.gradients(iteration)) {
        gradients.push_back(in_layer(gradient, first, last));
      }
      const Expected layer = serial[i]->iterate(gradients, iteration);
      append(expected.sum, layer.sum, first);
      expected.tolerance += layer.tolerance;
      for (std::size_t rank = 0; rank < gradients.size(); ++rank) {
        append(expected.contributed[rank], layer.contributed[rank], first);
      }
      first = last;
    }
    const auto outcome =
        all.run(network, iteration, [&](int rank) { return c.gradient(rank, iteration); });
    if (!test::conforms(outcome.results, expected)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Sparse schemes give layer by layer what serial programs give for each layer") {
  for (const SchemeInfo& info : all_schemes()) {
    if (!can_go_by_layer(info)) continue;
    const GivenOptions options = test::short_periods_of(info);
    for (const int ranks : {1, 2, 3, 7, 8, 12}) {
      if (test::kSanitized && ranks != 3) continue;
      for (const std::int64_t granule : {1, 4}) {
        for (const std::int64_t k : {std::int64_t{0}, 24 * granule, 400 * granule}) {
          for (const Shape shape : {Shape::random, Shape::one_region, Shape::one_rank}) {
            const GradientSpace space{.components = whole_of(layers_of(granule)),
                                      .granule = granule};
            const Case c{.ranks = ranks, .space = space, .k = k, .shape = shape};
            CAPTURE(info.name);
            CAPTURE(c.text());
            test::Networks networks;
            CHECK(layers_conform(networks.alphabeta, info, c, options, 2));
            CHECK(layers_conform(networks.counting, info, c, options, 1));
          }
        }
      }
    }
  }
}

TEST_CASE("What a scheme says of its result it says layer by layer, too") {
  const std::vector<std::int64_t> layers{4096, 4096};
  const SchemeInfo info = layer_by_layer(find_scheme("sparseloco"), layers);
  SchemeRanks all(info, 2, {.components = 8192, .granule = 1}, 80);
  test::Networks networks;
  const auto outcome =
      all.run(networks.counting, 1, [](int rank) { return test::full_gradient(8192, rank, 1); });
  for (const Reduced& reduced : outcome.results) {
    CHECK(reduced.sent_approximately);  // values of two bits
    CHECK(reduced.sent.value() > 0);
    CHECK(reduced.selection.took_part);
    CHECK(reduced.selection.selected == 80);
  }
}

TEST_CASE("What cannot run layer by layer is refused with the reason") {
  const auto refusal = [](const char* name) {
    return error_of<InputError>(
        [&] { static_cast<void>(layer_by_layer(find_scheme(name), {10})); });
  };
  CHECK(contains(refusal("dense_ring"), "dense_ovlp starts buckets"));
  CHECK(contains(refusal("dragonn"), "it goes tensor by tensor in any case"));
  CHECK(contains(refusal("cltk"), "do not all select for themselves"));
  CHECK(contains(refusal("exdyna"), "do not all select for themselves"));
  for (const char* name : {"ssar_recursive_double", "dsar_split_allgather", "topka", "gtopk",
                           "oktopk", "ring_sparse", "sidco", "ssar_split_allgather+bucket_topk"}) {
    CHECK(can_go_by_layer(find_scheme(name)));
  }
  const SchemeInfo info = layer_by_layer(find_scheme("topka"), {10, 90});
  CHECK(contains(
      error_of<InputError>([&] { SchemeRanks(info, 2, {.components = 100, .granule = 4}, 4); }),
      "/granule: 4 does not divide the model's layer of 10"));
}

}  // namespace thinwire::algorithms
