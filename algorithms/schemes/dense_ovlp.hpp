// Dense allreduce in buckets that are started one by one, as in DDP (DenseOvlp in Ok-Topk, PPoPP
// 2022, section 5; Li et al., PyTorch Distributed, VLDB 2020).
//
// The gradient is cut into B buckets of `bucket_words`, from its end to its beginning, the order in
// which the backward pass makes them ready; the last bucket has the remainder. The allreduces of
// the buckets (Rabenseifner; `ring`: around a ring) run on the rank's second strand, one after
// another. allreduce() is
// given the whole gradient, so it starts all of them at once; to overlap them with the backward
// pass, start each when its part is ready (DenseBuckets).
//
//   allreduce  on the second strand: B times dense_rabenseifner of a bucket
//   wait       the part that the rank's own program waits for: here all of it, at the same time
//   total      2 B log P α + 2n (P-1)/P β; with `ring` 2 B (P-1) α
//
// Exact where dense_rabenseifner is exact for every bucket: the buckets follow one another. With
// `ring` exact for one bucket, or where P divides all of them; else ranks with shorter pieces may
// begin the next bucket before the others, and the cost lies between floor(n/P) and ceil(n/P).
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 20, P = 4, buckets of 8: [12, 20), [4, 12) and [0, 4); 4 messages each, with
// 12, 12 and 6 words: 12 α + 30 β.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// An allreduce of a bucket, whose `reduction` is of the bucket's components.
using BucketAllreduce =
    std::function<Task<Message>(Communicator& strand, Message mine, const Reduction& reduction)>;

/// The buckets of a gradient: bucket 0 is its end.
class DenseBuckets {
 public:
  /// Buckets of `of_bucket` components.
  DenseBuckets(std::int64_t components, std::int64_t of_bucket);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] ComponentRange components(std::int64_t bucket) const;

  /// Starts the allreduce of a bucket; `gradient` is dense and holds at least its components.
  /// Waiting gives the sum. All ranks start the same buckets in the same order. `setup` and
  /// `allreduce` must outlive the request.
  [[nodiscard]] Request start(Communicator& comm, const SchemeSetup& setup, const Message& gradient,
                              std::int64_t bucket, const BucketAllreduce& allreduce) const;
  /// Joins the sums of buckets 0, 1, 2 ... to the whole sum.
  [[nodiscard]] static Message join(const SchemeSetup& setup, std::vector<Message> sums);

 private:
  std::int64_t components_;
  std::int64_t of_bucket_;
  std::int64_t count_;
};

/// The options of schemes with buckets: bucket_words, of which values of 16 bits fill a half, unless
/// bucket_bits says how many bits a value has there.
[[nodiscard]] OptionInfo bucket_option();
[[nodiscard]] OptionInfo bucket_bits_option();
[[nodiscard]] DenseBuckets dense_buckets(const GradientSpace& space, const Options& options);
/// A rank of a scheme that starts `allreduce` on each bucket when the backward pass has made it.
[[nodiscard]] std::unique_ptr<Scheme> dense_in_buckets(const SchemeSetup& setup,
                                                       BucketAllreduce allreduce);
/// The allreduce of dense_ovlp's buckets.
[[nodiscard]] BucketAllreduce dense_ovlp_allreduce(const Options& options);

[[nodiscard]] SchemeInfo dense_ovlp_scheme();

}  // namespace thinwire::algorithms
