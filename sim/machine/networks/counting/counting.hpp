// A network without a clock that counts steps, messages and words, to test cost formulas.
//
// In one step, a port sends or receives one message. Each rank has a step count. A message that a
// rank sends at step count s leaves in step s + 1 or, if the send port is already taken in that
// step, in the next free step. A receive port takes one message per step, in the order in which the
// rank waits for them. When a rank has waited for a message, its step count is at least the step in
// which its port took the message. These rules do not depend on an order in time, so the ranks can
// run in any order. The network is therefore an independent check of the α-β machine.
//
// The second strand of a rank has a step count and ports of its own, because the order of messages
// at a shared port would depend on time. Its count begins at the rank's count when the program was
// started. When the rank waits for the program, the rank's count is raised to the second strand's
// count if that is larger. The result of a rank is the larger count of its two strands: the length
// of the longest chain of messages, if the strands do not compete for the ports.
#pragma once

#include "sim/core/kernel/network.hpp"

namespace thinwire::networks {

/// A network without a clock that counts steps.
class CountingNetwork final : public Network {
 public:
  RunReport run(int ranks, const RankProgram& program) override;
};

}  // namespace thinwire::networks
