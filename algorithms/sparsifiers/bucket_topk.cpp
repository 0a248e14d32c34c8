// bucket_topk: the largest entries of every bucket of consecutive components (SparCML, SC 2019,
// sections 8.3 and 8.4: 2 to 16 of every 512).
//
// Bucket [first, last) gets the entries [first k/n, last k/n) of k, rounded down. So all buckets
// together select k, and two full buckets differ by at most one entry. k of every 512 is
// a density of k/512. The lower coordinate wins a tie. Components that the accumulator does not hold
// are 0 and never selected: a bucket that holds fewer than its share sends fewer.
//
// Work: n scanned. A block of threads keeps its bucket in its own memory, and knows where its
// entries go, since every bucket sends a known number: there is no prefix sum.
// Restrictions: a bucket holds whole granules; a statistical gradient has no entries to compare.
//
// Example: bucket = 4, n = 8, k = 2, accumulator {0: 1, 1: -5, 2: 3, 6: 2}: {1: -5, 6: 2}.
#include "algorithms/sparsifiers/sparsifiers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

const std::string kBucketOption = "bucket_components";

class BucketTopk final : public Sparsifier {
 public:
  explicit BucketTopk(const SchemeSetup& setup)
      : setup_(setup), bucket_(setup.options.integer(kBucketOption) / setup.space.granule) {
    if (bucket_ * setup.space.granule != setup.options.integer(kBucketOption)) {
      throw InputError(
          "/options/{}: {} is no multiple of the granule, {}; give another bucket, or a granule "
          "that divides it",
          kBucketOption, setup.options.integer(kBucketOption), setup.space.granule);
    }
  }

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int /*iteration*/) override {
    const std::int64_t end = setup_.space.coordinates();
    const Buckets buckets{.width = std::min(bucket_, end), .end = end, .k = setup_.carried_k()};
    return {.selected = select_largest_in(accumulated, buckets),
            .work = {.scanned = setup_.space.components}};
  }

 private:
  const SchemeSetup& setup_;
  std::int64_t bucket_;  // coordinates
};

}  // namespace

SparsifierInfo bucket_topk_sparsifier() {
  return {.name = "bucket_topk",
          .summary = "the largest entries of every bucket of consecutive components",
          .source = "SparCML (SC 2019), sections 8.3 and 8.4",
          .independent_iterations = true,
          .options = {{.name = kBucketOption,
                       .fallback = std::int64_t{512},
                       .minimum = 1,
                       .help = "consecutive components of a bucket, a multiple of the granule"}},
          .expected_work = [](std::int64_t n, std::int64_t /*k*/,
                              const Options& /*options*/) { return SelectionWork{.scanned = n}; },
          .make = [](const SchemeSetup& setup) { return std::make_unique<BucketTopk>(setup); }};
}

}  // namespace thinwire::algorithms
