// A Group makes a subset of the ranks of a Communicator a Communicator of its own.
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
/// which must outlive the group and may be a group too. Time, phases and accounting are those of
/// the network. Each member creates its own Group without any communication. A Group takes a few
/// words of memory, however many members it has, because every rank of a large simulation has
/// several Groups.
///
/// Messages with the same sender, receiver and tag stay in the order of posting across the parent
/// and all its groups. If two ranks share two groups, both ranks must therefore use these groups in
/// the same order.
class Group final : public Communicator {
 public:
  /// Throws SimulationError if a member is not a rank of the parent, or if the parent's own rank is
  /// not a member.
  Group(Communicator& parent, Members members);

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override;
  [[nodiscard]] Request irecv(Rank from, Tag tag) override;
  [[nodiscard]] Request start_work(Seconds work) override { return parent_.start_work(work); }
  void expect(Request request) override { parent_.expect(request); }
  void expect_send(Rank to, Tag tag) override { parent_.expect_send(in_parent(to), tag); }
  [[nodiscard]] Seconds now() const override { return parent_.now(); }

 protected:
  /// The program runs on the second strand of the parent, with the same group on that strand.
  [[nodiscard]] Request start_program(StartedProgram program) override;
  bool complete(std::span<const Request> requests) override { return parent_.complete(requests); }
  void park(std::span<const Request> requests, std::coroutine_handle<> waiting) override {
    parent_.park(requests, waiting);
  }
  bool complete_any(std::span<const Request> requests) override {
    return parent_.complete_any(requests);
  }
  void park_any(std::span<const Request> requests, std::coroutine_handle<> waiting) override {
    parent_.park_any(requests, waiting);
  }
  std::size_t first_complete(std::span<const Request> requests) override {
    return parent_.first_complete(requests);
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
