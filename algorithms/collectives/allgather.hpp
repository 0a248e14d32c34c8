// Allgather and allgatherv: every rank ends with every rank's message.
#pragma once

#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Messages may differ in length (allgatherv); no lengths are exchanged here.
///
/// Schedule: recursive doubling (rank ^ 1, 2, 4 ...) when P is a power of two; otherwise the
/// dissemination of Bruck et al. (IEEE TPDS 1997), which sends as much in as many steps as
/// recursive doubling at the next power of two.
/// Cost for messages of L words: ceil(log P) α + (P-1) L β, at any P.
/// Memory: one tree node per step; nothing is copied.
[[nodiscard]] Task<Concatenation> allgather(Communicator& comm, Message mine);

/// The same around a ring, as in NCCL: each step forwards the message received last to the next
/// rank.
/// Cost for messages of L words: (P-1) (α + Lβ), at any P.
[[nodiscard]] Task<Concatenation> allgather_ring(Communicator& comm, Message mine);

}  // namespace thinwire::algorithms
