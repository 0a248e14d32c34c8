// A Communicator that hands every operation on to another one.
#pragma once

#include <utility>

#include "sim/core/kernel/communicator.hpp"

namespace thinwire::inline kernel {

/// The base of communicators that change some operations of another one, which must outlive them.
/// Operations that a derived class does not override are the other's. A derived class overrides
/// start_program(), since a program runs on a communicator of its own.
class ForwardingCommunicator : public Communicator {
 public:
  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    return parent_.isend(to, tag, std::move(message));
  }
  [[nodiscard]] Request irecv(Rank from, Tag tag) override { return parent_.irecv(from, tag); }
  [[nodiscard]] Request start_work(Seconds work) override { return parent_.start_work(work); }
  [[nodiscard]] Request post_in_switches(const Members& members, InSwitches part) override {
    return parent_.post_in_switches(members, std::move(part));
  }
  void watch(Request request) override { parent_.watch(request); }
  [[nodiscard]] Seconds now() const override { return parent_.now(); }

 protected:
  ForwardingCommunicator(Communicator& parent, Rank rank, int size)
      : Communicator(rank, size), parent_(parent) {}

  [[nodiscard]] Communicator& parent() const { return parent_; }
  [[nodiscard]] Request start_on_parent(StartedProgram program) {
    return parent_.start_program(std::move(program));
  }

  bool complete(std::span<const Request> requests) override { return parent_.complete(requests); }
  void park(std::span<const Request> requests, std::coroutine_handle<> waiting) override {
    parent_.park(requests, waiting);
  }
  /// Has the parent post both, for derived classes on which the peers have these ranks there.
  void post_both_on_parent(Both& both, Rank to, Message&& message, Rank from, Tag tag) {
    parent_.post_both(both, to, std::move(message), from, tag);
  }
  void park_paired(Both& both, std::coroutine_handle<> waiting) override {
    parent_.park_paired(both, waiting);
  }
  bool complete_any(const AnyOf& of) override { return parent_.complete_any(of); }
  void park_any(const AnyOf& of, std::coroutine_handle<> waiting) override {
    parent_.park_any(of, waiting);
  }
  std::size_t first_complete(const AnyOf& of) override { return parent_.first_complete(of); }
  Message finish(Request request) override { return parent_.finish(request); }
  void spend(Seconds work) override { parent_.spend(work); }
  void enter_phase(std::string_view name) override { parent_.enter_phase(name); }
  void leave_phase() noexcept override { parent_.leave_phase(); }

 private:
  Communicator& parent_;
};

}  // namespace thinwire::inline kernel
