// A network without a clock that counts steps, messages and words, to test cost formulas.
//
// A step is one message through one port. A message that a rank sends after it has seen s steps
// goes in step s + 1 or, if its port has already sent in that step, in the next free one; a receive
// port takes one message per step, in the order in which the rank waits for them. The steps of a
// rank are those of the last message that it waited for. This needs no order in time, so ranks run
// in any order: an independent check of the α-β machine.
//
// A second strand counts its own steps through its own ports (the order at a shared port would
// depend on time), from those of its rank when the program was started. Waiting for it raises the
// rank's steps to its own if those are more. The steps of a rank are the larger of the two
// strands': the longest chain of messages, if the strands do not contend.
#pragma once

#include "sim/core/kernel/network.hpp"

namespace thinwire::networks {

/// A network without a clock that counts.
class CountingNetwork final : public Network {
 public:
  RunReport run(int ranks, const RankProgram& program) override;
};

}  // namespace thinwire::networks
