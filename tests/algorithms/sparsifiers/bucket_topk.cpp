#include "algorithms/sparsifiers/sparsifiers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::contains;
using test::Entries;
using test::error_of;

namespace {

SchemeSetup bucket_setup(std::int64_t n, std::int64_t k, std::int64_t bucket) {
  return {.space = {.components = n, .granule = 1},
          .k = k,
          .options = Options(bucket_topk_sparsifier().options, {{"bucket_components", bucket}})};
}

Entries selected_of_buckets(const SchemeSetup& setup, const SparseVector& from) {
  const auto sparsifier = bucket_topk_sparsifier().make(setup);
  return test::entries_of(sparsifier->select(from, Rank(0), 1).selected);
}

/// Sorts each bucket by magnitude.
Entries largest_of_buckets(const Entries& all, std::int64_t n, std::int64_t k,
                           std::int64_t bucket) {
  Entries kept;
  for (std::int64_t first = 0; first < n; first += bucket) {
    const std::int64_t last = std::min(n, first + bucket);
    Entries in_bucket;
    for (const Entry& entry : all) {
      if (entry.coordinate >= first && entry.coordinate < last) in_bucket.push_back(entry);
    }
    std::ranges::sort(in_bucket, [](const Entry& a, const Entry& b) {
      const float larger = std::abs(a.value) - std::abs(b.value);
      return larger > 0 || (larger == 0 && a.coordinate < b.coordinate);
    });
    const std::int64_t share = last * k / n - first * k / n;
    in_bucket.resize(std::min(in_bucket.size(), static_cast<std::size_t>(share)));
    std::ranges::sort(in_bucket, {}, &Entry::coordinate);
    kept.insert(kept.end(), in_bucket.begin(), in_bucket.end());
  }
  return kept;
}

}  // namespace

TEST_CASE("bucket_topk selects the largest of every bucket, and k of a full gradient in all") {
  for (const std::int64_t n : {1, 100, 512, 513, 2000}) {
    for (const std::int64_t bucket : {1, 7, 512, 5000}) {
      for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n}) {
        CAPTURE(n);
        CAPTURE(bucket);
        CAPTURE(k);
        const SparseVector full = test::full_gradient(static_cast<std::uint32_t>(n), 1, 1);
        const Entries got = selected_of_buckets(bucket_setup(n, k, bucket), full);
        CHECK(got == largest_of_buckets(test::entries_of(full), n, k, bucket));
        CHECK(std::cmp_equal(got.size(), k));
        const SparseVector some = test::shaped_gradient(
            test::Shape::skewed, static_cast<std::uint32_t>(n), 1, 0, 1, static_cast<int>(n / 2));
        CHECK(selected_of_buckets(bucket_setup(n, k, bucket), some) ==
              largest_of_buckets(test::entries_of(some), n, k, bucket));
      }
    }
  }
}

TEST_CASE("A density of 8/512 is 8 of every 512 components") {
  const std::int64_t n = 20 * 512;
  const Entries got =
      selected_of_buckets(bucket_setup(n, n * 8 / 512, 512), test::full_gradient(n, 0, 1));
  std::vector<int> counts(20);
  for (const Entry& entry : got) ++counts[entry.coordinate / 512];
  CHECK(std::ranges::all_of(counts, [](int count) { return count == 8; }));
}

TEST_CASE("bucket_topk refuses what it cannot do, in a line") {
  SchemeSetup setup = bucket_setup(4096, 64, 510);
  setup.space.granule = 4;
  CHECK(contains(
      error_of<InputError>([&] { static_cast<void>(bucket_topk_sparsifier().make(setup)); }),
      "/options/bucket_components: 510 is no multiple of the granule, 4; give another bucket"));
}

}  // namespace thinwire::algorithms
