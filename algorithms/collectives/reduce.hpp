// Reduction to one rank by a binomial tree.
#pragma once

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// `root` ends with the sum of all ranks' messages, the others with an empty message.
/// Schedule: the reverse of broadcast. Ranks are numbered relative to the root; for each 2^s from
/// the largest below P down to 1, ranks 2^s to 2^(s+1) - 1 send to rank - 2^s, which adds the
/// message to its own.
/// Cost for values of L words: ceil(log P) (α + Lβ), at any P: a child 2^s away is done s steps
/// before the end, and a port that receives messages in order of arrival is never late. With γ per
/// reduced word: ceil(log P) (α + Lβ + Lγ) at powers of two, and at most that elsewhere, where
/// early children hide some of it. Sparse values fill in on the way.
[[nodiscard]] Task<Message> reduce(Communicator& comm, Rank root, Message mine,
                                   const Reduction& reduction);

}  // namespace thinwire::algorithms
