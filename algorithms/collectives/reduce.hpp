// Reduction to one rank by a binomial tree.
#pragma once

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Returns the sum of the messages of all ranks on `root`, and an empty message on the other ranks.
/// Schedule: the reverse of broadcast. Ranks are numbered relative to the root; for each 2^s from
/// the largest below P down to 1, ranks 2^s to 2^(s+1) - 1 send to rank - 2^s, which adds the
/// message to its own.
/// Cost for values of L words: ceil(log P) (α + Lβ), at any P. The message of a child at distance
/// 2^s arrives s steps before the end, so a port that receives messages in the order of arrival
/// causes no delay. With γ per reduced word, the cost is ceil(log P) (α + Lβ + Lγ) if P is a power
/// of two. Otherwise it is at most that, because the summation of messages that arrive early is
/// hidden. The number of entries of sparse values grows on the way to the root (fill-in).
[[nodiscard]] Task<Message> reduce(Communicator& comm, Rank root, Message mine,
                                   const Reduction& reduction);

}  // namespace thinwire::algorithms
