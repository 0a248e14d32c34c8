// Allreduce: every rank ends with the sum over all ranks, identical to the last bit.
//
// Costs are for values of L words on every rank, on the α-β machine, at any P. When P is not a
// power of two, 2^m < P < 2^(m+1), the first 2 (P - 2^m) ranks fold in: the even rank of each pair
// sends its value to the odd one before, and receives the sum after, which adds 2 (α + Lβ) to the
// cost at 2^m. The γ per reduced word is additional and not listed.
#pragma once

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The type of the schedules below.
using AllreduceSchedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

/// Exchange and sum with rank ^ 1, 2, 4 ...: log P (α + Lβ).
[[nodiscard]] Task<Message> allreduce_recursive_doubling(Communicator& comm, Message mine,
                                                         const Reduction& reduction);

/// Rabenseifner (ICCS 2004): reduce-scatter by recursive halving, allgather by recursive doubling:
/// 2 log P α + 2 L (P-1)/P β if P divides L. The longest pieces go to the nearest rank (rank ^ 1
/// first), as in MPICH, which costs the same here and less when near ranks share a switch. Folding
/// in may cost more than said above: see algorithms/schemes/dense.hpp.
[[nodiscard]] Task<Message> allreduce_rabenseifner(Communicator& comm, Message mine,
                                                   const Reduction& reduction);

/// Reduce-scatter and allgather around a ring, at any P without folding: 2 (P-1) (α + ceil(L/P) β).
[[nodiscard]] Task<Message> allreduce_ring(Communicator& comm, Message mine,
                                           const Reduction& reduction);

}  // namespace thinwire::algorithms
