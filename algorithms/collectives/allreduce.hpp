// Allreduce: every rank ends with the sum over all ranks, the same to the last bit on each.
//
// Costs are for values of L words on every rank, on the α-β machine, at any P. Where P is no power
// of two, 2^m < P < 2^(m+1), the first 2 (P - 2^m) ranks fold in: of each pair the even one sends
// its value to the odd one before, and gets the sum after, which is 2 (α + Lβ) more than the cost
// at 2^m. γ a reduced word comes on top and is not listed.
#pragma once

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Any of these.
using AllreduceSchedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

/// Exchange and sum with rank ^ 1, 2, 4 ...: log P (α + Lβ).
[[nodiscard]] Task<Message> allreduce_recursive_doubling(Communicator& comm, Message mine,
                                                         const Reduction& reduction);

/// Rabenseifner (ICCS 2004): reduce-scatter by recursive halving, allgather by recursive doubling:
/// 2 log P α + 2 L (P-1)/P β where P divides L. The longest pieces go to the nearest rank (rank ^ 1
/// first), as in MPICH, which costs the same here and less where near ranks share a switch. Folding
/// in may cost more than said above: see algorithms/schemes/dense.hpp.
[[nodiscard]] Task<Message> allreduce_rabenseifner(Communicator& comm, Message mine,
                                                   const Reduction& reduction);

/// Reduce-scatter and allgather around a ring, any P without folding:
/// 2 (P-1) (α + ceil(L/P) β).
[[nodiscard]] Task<Message> allreduce_ring(Communicator& comm, Message mine,
                                           const Reduction& reduction);

}  // namespace thinwire::algorithms
