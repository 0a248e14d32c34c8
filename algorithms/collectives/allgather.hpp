// Allgather and allgatherv: every rank ends with every rank's message.
//
// Messages may differ in length (allgatherv); these functions do not exchange their lengths. Costs
// are for messages of L words, on the α-β machine.
#pragma once

#include <cstdint>

#include "algorithms/collectives/folding.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The type of the schedules below.
using AllgatherSchedule = Task<Concatenation> (*)(Communicator&, Message);

/// Recursive doubling (with rank ^ 1, rank ^ 2, rank ^ 4 ...) if P is a power of two, otherwise the
/// dissemination below. Open MPI's recursive doubling does the same (coll_base_allgather.c).
/// Cost: ceil(log P) α + (P-1) L β, at any P.
/// Memory: one tree node per step; nothing is copied.
[[nodiscard]] Task<Concatenation> allgather(Communicator& comm, Message mine);

/// The dissemination of Bruck et al. (IEEE TPDS 1997): in the step of distance 1, 2, 4 ... a rank
/// sends its first messages to rank - distance. This takes as many steps as recursive doubling at
/// the next power of two, and sends each rank only the P-1 messages that it lacks.
/// Cost: ceil(log P) α + (P-1) L β, at any P.
[[nodiscard]] Task<Concatenation> allgather_bruck(Communicator& comm, Message mine);

/// Around a ring, as in NCCL: in each step, a rank forwards the message that it received last to
/// the next rank.
/// Cost: (P-1) (α + Lβ), at any P.
[[nodiscard]] Task<Concatenation> allgather_ring(Communicator& comm, Message mine);

/// Neighbour exchange (Chen et al., HPC Asia 2005): ranks exchange their messages in pairs, and then
/// the two messages that they received last with their left and their right neighbour by turns.
/// Cost: P/2 α + (P-1) L β, at even P. At odd P this is the ring, as in Open MPI.
[[nodiscard]] Task<Concatenation> allgather_neighbor_exchange(Communicator& comm, Message mine);

/// The ring for pieces that are shifted among the ranks: rank r holds piece `own.from` = (r + d) mod P,
/// with the same d on all ranks.
[[nodiscard]] Task<Concatenation> gather_around_ring(Communicator& comm, Concatenation::Piece own);

/// The ring for the blocks of a vector that has nothing but a length (Reduction::has_length_alone),
/// of `pieces` consecutive pieces each. Rank r begins with block r + shift, modulo P.
[[nodiscard]] Task<void> gather_lengths_around_ring(Communicator& comm, const Message& whole,
                                                    const Reduction& reduction, int shift,
                                                    int pieces = 1);

/// The order in which a schedule of powers of two goes through its distances.
enum class Distances : std::uint8_t { ascending, descending };

/// Recursive doubling with descending distances among the ranks of the core, none of which may have
/// folded in.
[[nodiscard]] Task<Concatenation> gather_by_descending_distances(Communicator& comm, Core core,
                                                                 Concatenation own);

}  // namespace thinwire::algorithms
