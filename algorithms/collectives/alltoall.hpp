// All-to-all: every rank has a block for every rank, and ends with the blocks that are for it.
//
// Blocks may differ in length (alltoallv); these functions do not exchange their lengths. Costs are
// for blocks of L words, on the α-β machine. `blocks` has P blocks by receiver; the result has P
// blocks by sender. A rank's block for itself is not sent.
#pragma once

#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Pairwise exchange, one message at a time: in step s, a rank sends to rank + s and receives from
/// rank - s (Open MPI, coll_base_alltoall.c, pairwise).
/// Cost: (P-1) (α + Lβ), at any P.
[[nodiscard]] Task<std::vector<Message>> alltoall_pairwise(Communicator& comm,
                                                           std::vector<Message> blocks);

/// The same messages with up to `in_flight` exchanges posted together; 0 for all of them at once,
/// as in Open MPI's basic linear, and P-1 > in_flight > 0 as in its linear_sync.
/// Cost: (P-1) (α + Lβ), at any P.
[[nodiscard]] Task<std::vector<Message>> alltoall_linear(Communicator& comm,
                                                         std::vector<Message> blocks,
                                                         int in_flight = 0);

/// Bruck et al. (IEEE TPDS 1997), as in Open MPI: the block for rank + i travels by the distances
/// 1, 2, 4 ... that are bits of i, all blocks of a step in one message.
/// Cost: log P α + P/2 log P L β if P is a power of two. At any P, ceil(log P) messages; the
/// message of distance d has the blocks i < P that have the bit d. The blocks are copied into their order
/// before and after, and into and out of each message. `buffer` is the time for the buffer in which
/// they are ordered.
[[nodiscard]] Task<std::vector<Message>> alltoall_bruck(Communicator& comm,
                                                        std::vector<Message> blocks,
                                                        Seconds copy_per_word = Seconds(0),
                                                        Seconds buffer = Seconds(0));

/// The number of blocks in the step of a distance of Bruck's algorithm.
[[nodiscard]] int bruck_blocks(int ranks, int distance);

}  // namespace thinwire::algorithms
