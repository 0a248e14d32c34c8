// No clock: counts the steps, messages and words of a schedule, for tests of cost formulas.
//
// A step is one message through one port. A message that a rank sends after it has seen s steps
// goes in step s + 1 or, if its port has sent in that step already, in the next free one; a receive
// port takes one message a step, in the order in which the rank waits for them. The steps of a rank
// are those of the last message that it waited for. No order in time is needed for this, so ranks
// run in any order: an independent check of the α-β machine.
//
// A second strand counts steps of its own, through ports of its own (whose turn it would be at a
// shared port is a question of time), from those of its rank when the program was started. To wait
// for it takes the rank to its steps, where they are more. A rank's steps are the strand's with
// more: those of the longest chain of messages, where the strands are not in each other's way.
#pragma once

#include "sim/core/kernel/network.hpp"

namespace thinwire::networks {

/// A network without a clock, which counts.
class CountingNetwork final : public Network {
 public:
  RunReport run(int ranks, const RankProgram& program) override;
};

}  // namespace thinwire::networks
