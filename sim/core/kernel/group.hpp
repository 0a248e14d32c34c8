// A Group makes a subset of the ranks of a Communicator a Communicator of its own.
#pragma once

#include "sim/core/kernel/forwarding.hpp"
#include "sim/core/kernel/in_switches.hpp"

namespace thinwire::inline kernel {

/// Rank i of the group is the i-th of the members. Every operation is forwarded to the parent,
/// which must outlive the group and may be a group too. The network keeps time, phases and accounts.
/// Each member creates its own Group without any communication. A Group takes a few
/// words of memory, however many members it has, because every rank of a large simulation has
/// several Groups.
///
/// Messages with the same sender, receiver and tag stay in the order of posting across the parent
/// and all its groups. If two ranks share two groups, both ranks must therefore use these groups in
/// the same order.
class Group final : public ForwardingCommunicator {
 public:
  /// Throws SimulationError if a member is not a rank of the parent, or if the parent's own rank is
  /// not a member.
  Group(Communicator& parent, Members members);

  [[nodiscard]] Members members() const override;
  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override;
  [[nodiscard]] Request irecv(Rank from, Tag tag) override;
  [[nodiscard]] Request post_in_switches(const Members& members, InSwitches part) override;
  /// Both are forwarded to the parent, which knows its ranks better.
  [[nodiscard]] Task<void> double_among(Members members, DoublingPart& part, Tag tag) override;
  [[nodiscard]] Task<void> rounds_among(Members members, const RoundsPart& part, Tag tag) override;

 protected:
  void post_both(Both& both, Rank to, Message message, Rank from, Tag tag) override {
    post_both_on_parent(both, in_parent(to), std::move(message), in_parent(from), tag);
  }
  /// The program runs on the second strand of the parent, with the same group on that strand.
  [[nodiscard]] Request start_program(StartedProgram program) override;

 private:
  [[nodiscard]] Rank in_parent(Rank member) const;

  Members own_;  ///< as ranks of the parent
};

}  // namespace thinwire::inline kernel
