// Allreduce: every rank ends with the sum over all ranks, identical to the last bit.
//
// Costs are for values of L words on every rank, on the α-β machine, at any P. If P is not a power
// of two, 2^m < P < 2^(m+1), the first 2 (P - 2^m) ranks form pairs, in which one rank folds in:
// the even rank sends its value to the odd rank before the allreduce of 2^m ranks, and receives the
// sum after it. This adds 2 (α + Lβ) to the cost at 2^m. Summation costs γ per reduced word in
// addition, which is not listed.
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

/// Rabenseifner (ICCS 2004): reduce-scatter by recursive halving, allgather by recursive doubling:
/// 2 log P α + 2 L (P-1)/P β if P divides L. The longest pieces go to the nearest rank (rank ^ 1
/// first), as in MPICH. This costs the same on the α-β machine, and less on a platform where near
/// ranks share a switch. Folding in may cost more than stated above: see
/// algorithms/schemes/dense.hpp.
[[nodiscard]] Task<Message> allreduce_rabenseifner(Communicator& comm, Message mine,
                                                   const Reduction& reduction);

/// Reduce-scatter and allgather around a ring, at any P without folding: 2 (P-1) (α + ceil(L/P) β).
[[nodiscard]] Task<Message> allreduce_ring(Communicator& comm, Message mine,
                                           const Reduction& reduction);

}  // namespace thinwire::algorithms
