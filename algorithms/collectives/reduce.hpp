// Reduction to one rank by a binomial tree.
#pragma once

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// `root` ends with the sum of all ranks' messages, the others with an empty message.
/// Schedule: broadcast backwards. Ranks are counted from the root; for 2^s from the largest below P
/// down to 1, those from 2^s up to 2^(s+1) send to rank - 2^s, which adds what comes to its own.
/// Cost for values of L words: ceil(log P) (α + Lβ), at any P: a child 2^s away is done s steps
/// before the end, and a port that takes in whatever has come is never late. With γ a reduced word
/// ceil(log P) (α + Lβ + Lγ) at powers of two, and no more than that elsewhere, where children that
/// come early hide some of it. Sparse values grow on the way.
[[nodiscard]] Task<Message> reduce(Communicator& comm, Rank root, Message mine,
                                   const Reduction& reduction);

}  // namespace thinwire::algorithms
