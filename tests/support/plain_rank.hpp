// A rank whose network does not see what all ranks do together.
#pragma once

#include <utility>

#include "sim/core/kernel/group.hpp"

namespace thinwire::test {

/// Takes each step of an exchange, and each round, itself.
class PlainRank final : public ForwardingCommunicator {
 public:
  explicit PlainRank(Communicator& parent)
      : ForwardingCommunicator(parent, parent.rank(), parent.size()) {}

 protected:
  Request start_program(StartedProgram program) override {
    return start_on_parent(std::move(program));
  }
};

}  // namespace thinwire::test
