// A rank whose local work takes longer than the work of others: a straggler.
#pragma once

#include "sim/core/kernel/forwarding.hpp"

namespace thinwire::inline kernel {

/// The communicator of a rank on which local work takes `factor` times as long, on both strands.
/// Messages take what they take.
class SlowRank final : public ForwardingCommunicator {
 public:
  SlowRank(Communicator& parent, double factor)
      : ForwardingCommunicator(parent, parent.rank(), parent.size()), factor_(factor) {}

  [[nodiscard]] Request start_work(Seconds work) override {
    return parent().start_work(work * factor_);
  }

 protected:
  void post_both(Both& both, Rank to, Message message, Rank from, Tag tag) override {
    post_both_on_parent(both, to, std::move(message), from, tag);
  }
  [[nodiscard]] Request start_program(StartedProgram program) override;
  void spend(Seconds work) override { ForwardingCommunicator::spend(work * factor_); }

 private:
  double factor_;
};

}  // namespace thinwire::inline kernel
