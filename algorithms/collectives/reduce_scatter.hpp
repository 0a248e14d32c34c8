// Reduce-scatter: rank r ends with piece r of the sum over all ranks.
//
// The value is cut into P pieces as equal as possible. Costs are for values of L words on every
// rank, on the α-β machine, if P divides L; L is the sum of all pieces. Summation costs γ per
// reduced word in addition, which is L (P-1)/P γ in all of them.
#pragma once

#include <bit>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/folding.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The type of the schedules below.
using ReduceScatterSchedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

/// Around a ring: piece r begins on rank r + 1, and every rank adds its own part to it (Open MPI,
/// coll_base_reduce_scatter.c, ring).
/// Cost: (P-1) α + L (P-1)/P β, at any P.
[[nodiscard]] Task<Message> reduce_scatter_ring(Communicator& comm, Message mine,
                                                const Reduction& reduction);

/// Recursive halving (Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4.2.1): ranks exchange
/// halves with the rank at half the distance of the step before, the farthest first.
/// Cost: log P α + L (P-1)/P β if P is a power of two. Otherwise ranks fold in (folding.hpp): a
/// message of L words more before, and one of L/P words afterwards. A pair's two pieces stay
/// together in between, as in Open MPI and MPICH.
[[nodiscard]] Task<Message> reduce_scatter_recursive_halving(Communicator& comm, Message mine,
                                                             const Reduction& reduction);

/// Pairwise exchange (Thakur et al., section 4.2.3; MPICH): in step s, a rank sends rank + s that
/// rank's piece, and receives its own from rank - s.
/// Cost: (P-1) α + L (P-1)/P β, at any P.
[[nodiscard]] Task<Message> reduce_scatter_pairwise(Communicator& comm, Message mine,
                                                    const Reduction& reduction);

/// The pieces of which a ring sums one for each rank: of each of P blocks that have `segments`
/// pieces the same one.
struct RingPieces {
  int shift = 0;  ///< rank r ends with block r + shift, modulo P
  int segments = 1;
  int segment = 0;  ///< of every block, from 0

  /// The piece of a block, among all P * segments.
  [[nodiscard]] int of(int block) const { return block * segments + segment; }
};

/// The ring of reduce_scatter_ring for other pieces.
[[nodiscard]] Task<Message> reduce_around_ring(Communicator& comm, Message mine,
                                               const Reduction& reduction, RingPieces pieces);

/// What each of so many places, a power of two, exchanges in recursive halving, in pieces of which
/// there is one for each place. In each step it keeps one half of what it has kept so far.
struct Halves {
  int places = 1;
  Distances distances = Distances::descending;

  [[nodiscard]] int steps() const { return std::countr_zero(static_cast<unsigned>(places)); }
  [[nodiscard]] int distance(int step) const;
  [[nodiscard]] PieceRange kept(int place, int steps) const;
  [[nodiscard]] PieceRange sent(int place, int step) const;
  /// The bits of a place that kept() depends on.
  [[nodiscard]] int told(int steps) const;
};

/// What a rank of the core has after recursive halving: the sum of the pieces in `range`.
struct Halved {
  Message message;
  PieceRange range;
};

/// Recursive halving among the ranks of the core, none of which may have folded in. The value is
/// cut into `pieces` pieces: one for each rank of the core, or one for each of P ranks, of which a
/// pair's stay together. With descending distances a rank ends with its own pieces; with ascending
/// distances, with the pieces of the place whose bits are in reverse order.
[[nodiscard]] Task<Halved> reduce_by_halving(Communicator& comm, Core core, Message held,
                                             const Reduction& reduction, int pieces,
                                             Distances distances);

}  // namespace thinwire::algorithms
