// Allgather and allgatherv: every rank ends with every rank's message.
#pragma once

#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Messages may differ in length (allgatherv); this function does not exchange their lengths.
///
/// Schedule: recursive doubling (with rank ^ 1, rank ^ 2, rank ^ 4 ...) if P is a power of two.
/// Otherwise the dissemination of Bruck et al. (IEEE TPDS 1997), which takes as many steps as
/// recursive doubling at the next power of two, and sends each rank only the P-1 messages that it
/// lacks.
/// Cost for messages of L words: ceil(log P) α + (P-1) L β, at any P.
/// Memory: one tree node per step; nothing is copied.
[[nodiscard]] Task<Concatenation> allgather(Communicator& comm, Message mine);

/// An allgather around a ring, as in NCCL: in each step, a rank forwards the message that it
/// received last to the next rank.
/// Cost for messages of L words: (P-1) (α + Lβ), at any P.
[[nodiscard]] Task<Concatenation> allgather_ring(Communicator& comm, Message mine);

}  // namespace thinwire::algorithms
