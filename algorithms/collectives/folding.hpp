// Makes schedules for a power of two of ranks run at any P: the other ranks fold in.
//
// If P is not a power of two, 2^m < P < 2^(m+1), the first 2 (P - 2^m) ranks form pairs. In a pair
// the even rank folds in: it sends its value to the odd rank before the schedule of the other 2^m
// ranks, and receives its result from it afterwards. This is what Open MPI and MPICH do
// (coll_base_reduce_scatter.c, allreduce_intra_recursive_doubling.c).
#pragma once

#include <algorithm>
#include <bit>

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The ranks, a power of two, that remain once the others have folded in. The remaining ranks are
/// numbered from 0 by their place.
class Core {
 public:
  explicit Core(const Communicator& comm) : Core(comm.rank(), comm.size()) {}
  Core(Rank rank, int ranks)
      : rank_(rank.value()),
        size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        folded_(ranks - size_) {}

  [[nodiscard]] int size() const { return size_; }
  /// Whether this rank belongs to a pair of which one folds in.
  [[nodiscard]] bool paired() const { return rank_ < 2 * folded_; }
  [[nodiscard]] bool folds_in() const { return paired() && rank_ % 2 == 0; }
  [[nodiscard]] Rank partner() const { return Rank(rank_ ^ 1); }
  /// The place of this rank, and the rank at a place.
  [[nodiscard]] int place() const { return paired() ? rank_ / 2 : rank_ - folded_; }
  [[nodiscard]] Rank at(int place) const {
    return Rank(place < folded_ ? 2 * place + 1 : place + folded_);
  }
  /// The ranks that the places of a range stand for: a pair is one place.
  [[nodiscard]] PieceRange ranks_of(PieceRange places) const {
    return {places.first + std::min(places.first, folded_),
            places.last + std::min(places.last, folded_)};
  }

 private:
  int rank_;
  int size_;
  int folded_;
};

/// Before the schedule: a rank that folds in sends its value to its partner, which adds it to its
/// own. Returns the sum; on a rank that folds in, an empty message.
[[nodiscard]] Task<Message> fold_in(Communicator& comm, Core core, Message mine,
                                    const Reduction& reduction);
/// After the schedule: sends the partner's result to a rank that folded in. Returns this rank's
/// result.
[[nodiscard]] Task<Message> fold_out(Communicator& comm, Core core, Message mine,
                                     Message of_partner);

}  // namespace thinwire::algorithms
