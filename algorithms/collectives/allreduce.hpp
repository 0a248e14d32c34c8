// Allreduce: every rank ends with the sum over all ranks, identical to the last bit.
//
// Costs are for values of L words on every rank, on the α-β machine, at any P. If P is not a power
// of two, 2^m < P < 2^(m+1), ranks fold in (folding.hpp), which adds 2 (α + Lβ) to the cost at 2^m.
// Summation costs γ per reduced word in addition, which is not listed.
#pragma once

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The type of the schedules below.
using AllreduceSchedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

/// Exchanges and sums values with rank ^ 1, rank ^ 2, rank ^ 4 ...: log P (α + Lβ).
[[nodiscard]] Task<Message> allreduce_recursive_doubling(Communicator& comm, Message mine,
                                                         const Reduction& reduction);

/// Rabenseifner (ICCS 2004): reduce-scatter by recursive halving, allgather by recursive doubling.
/// Cost: 2 log P α + 2 L (P-1)/P β if P divides L. The longest pieces go to the nearest rank (rank ^ 1
/// first), as in MPICH. This costs the same on the α-β machine, and less on a platform where near
/// ranks share a switch. Folding in may cost more than stated above: see
/// algorithms/schemes/dense.hpp.
[[nodiscard]] Task<Message> allreduce_rabenseifner(Communicator& comm, Message mine,
                                                   const Reduction& reduction);

/// Reduce-scatter and allgather around a ring, at any P without folding: 2 (P-1) (α + ceil(L/P) β).
[[nodiscard]] Task<Message> allreduce_ring(Communicator& comm, Message mine,
                                           const Reduction& reduction);

/// The ring with a reduce-scatter in segments (Open MPI, coll_base_allreduce.c, ring_segmented):
/// each block of L/P words is cut into S segments of about `segment` words, and the ring of the
/// reduce-scatter is run once for the first segments of all blocks, then for the second ones, and so
/// on. The allgather moves whole blocks. On real machines segments keep their data in the cache;
/// the α-β machine has none. Cost: (S+1) (P-1) α + 2 L (P-1)/P β. Words(0) is one segment, the plain ring.
[[nodiscard]] Task<Message> allreduce_ring_segmented(Communicator& comm, Message mine,
                                                     const Reduction& reduction, Words segment);
/// S of a value of `whole` words, by Open MPI's rule: L / (P segment) rounded, at least 1.
[[nodiscard]] int ring_segments(Words whole, int ranks, Words segment);

/// A reduction to rank 0 and a broadcast, both by binomial trees (Open MPI's nonoverlapping, which
/// leaves the choice of the trees to its decision rules): 2 ceil(log P) (α + Lβ).
[[nodiscard]] Task<Message> allreduce_nonoverlapping(Communicator& comm, Message mine,
                                                     const Reduction& reduction);

}  // namespace thinwire::algorithms
