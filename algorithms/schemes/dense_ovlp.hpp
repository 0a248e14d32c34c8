// Dense allreduce in buckets, started one by one: what DDP does (DenseOvlp in Ok-Topk, PPoPP 2022,
// section 5; Li et al., PyTorch Distributed, VLDB 2020).
//
// The gradient is cut into B buckets of `bucket_words`, from its end to its beginning, the order in
// which the backward pass makes them ready; what is left over at the beginning is the last bucket.
// The allreduce of each (Rabenseifner) runs on the rank's second strand, one after another. This
// scheme is given the whole gradient, so it starts all of them at once; to overlap them with the
// backward pass start each when its part is there (DenseBuckets).
//
//   allreduce  on the second strand: B times dense_rabenseifner of a bucket
//   wait       what of it the rank's own program has to wait for: here all of it, at the same time
//   total      2 B log P α + 2n (P-1)/P β
//
// Exact where P is a power of two that divides the lengths of all buckets (or there is but one,
// long enough). Else ranks with shorter pieces, or with nobody to take in, get ahead of others:
//   - from below, rank 0's messages (rank 1's where ranks fold in) follow one another: it posts
//   each
//     when the one before has been sent;
//   - from above, where P is a power of two, a rank is at most 2 (P-1) words ahead at the end of a
//     bucket. Where pieces have 4 (P-1) words or more no message overtakes another, and the costs
//     of the buckets add up. Where they are shorter, or ranks fold in, messages for later steps may
//     come to a port before those that its rank waits for: up to twice the cost of the core.
// Restrictions: none. Memory: n words a rank, the result shared by all ranks of the simulation.
//
// Worked example: n = 20, P = 4, buckets of 8: [12, 20), [4, 12) and [0, 4); each 4 messages, and
// 12, 12 and 6 words: 12 α + 30 β.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The buckets of a gradient: bucket 0 is its end.
class DenseBuckets {
 public:
  DenseBuckets(std::int64_t components, std::int64_t bucket_words);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] ComponentRange components(std::int64_t bucket) const;

  /// Starts the allreduce of a bucket; `gradient` is dense and holds at least its components.
  /// Waiting gives the sum. All ranks start the same buckets in the same order.
  [[nodiscard]] Request start(Communicator& comm, const SchemeSetup& setup, const Message& gradient,
                              std::int64_t bucket) const;
  /// The whole sum, of those of buckets 0, 1, 2 ...
  [[nodiscard]] static Message join(const SchemeSetup& setup, std::vector<Message> sums);

 private:
  std::int64_t components_;
  std::int64_t bucket_words_;
  std::int64_t count_;
};

[[nodiscard]] SchemeInfo dense_ovlp_scheme();

}  // namespace thinwire::algorithms
