// A subset of the ranks of a Communicator as a Communicator of its own.
#pragma once

#include "sim/core/kernel/communicator.hpp"

namespace thinwire::inline kernel {

/// `count` ranks of a communicator: first, first + stride, first + 2 stride ...
struct Members {
  int first = 0;
  int count = 1;
  int stride = 1;
};

/// Rank i of the group is the i-th of the members. Every operation is forwarded to the parent,
/// which must outlive the group and may be a group too: time, phases and accounting stay with the
/// network. Each member creates its own Group without any communication. A Group takes a few words
/// of memory, whatever the count: every rank of a large simulation holds some.
///
/// Messages of one pair of ranks and one tag keep one order through the parent and all its groups,
/// so both ranks must use two groups that they share in the same order.
class Group final : public Communicator {
 public:
  /// Throws SimulationError when the parent lacks a member, or its own rank is not a member.
  Group(Communicator& parent, Members members);

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override;
  [[nodiscard]] Request irecv(Rank from, Tag tag) override;
  void expect(Request request) const override { parent_.expect(request); }
  [[nodiscard]] Seconds now() const override { return parent_.now(); }

 protected:
  /// Runs on the second strand of the parent, within the group on that strand.
  [[nodiscard]] Request start_program(StartedProgram program) override;
  bool complete(std::span<const Request> requests) override { return parent_.complete(requests); }
  void park(std::span<const Request> requests, std::coroutine_handle<> waiting) override {
    parent_.park(requests, waiting);
  }
  Message finish(Request request) override { return parent_.finish(request); }
  void spend(Seconds work) override { parent_.spend(work); }
  void enter_phase(std::string_view name) override { parent_.enter_phase(name); }
  void leave_phase() noexcept override { parent_.leave_phase(); }

 private:
  [[nodiscard]] Rank in_parent(Rank member) const;

  Communicator& parent_;
  int first_;
  int stride_;
};

}  // namespace thinwire::inline kernel
