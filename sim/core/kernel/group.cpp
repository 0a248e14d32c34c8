#include "sim/core/kernel/group.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline kernel {

namespace {

/// The index of the parent's own rank among the members.
Rank place_of(const Communicator& parent, Members members) {
  const int last = members.first + (members.count - 1) * members.stride;
  if (members.list != nullptr) {
    const int number = members.number_of(parent.rank());
    if (number >= 0) return Rank(number);
    throw SimulationError(fmt::format("rank {} is not among the {} ranks of the list of a group",
                                      parent.rank().value(), members.count));
  }
  if (members.first < 0 || members.count < 1 || members.stride < 1 || last >= parent.size()) {
    throw SimulationError(
        fmt::format("no group of {} ranks from {} in steps of {} is among ranks 0 to {}",
                    members.count, members.first, members.stride, parent.size() - 1));
  }
  const int number = members.number_of(parent.rank());
  if (number < 0) {
    throw SimulationError(
        fmt::format("rank {} is not in the group of {} ranks from {} in steps of {}",
                    parent.rank().value(), members.count, members.first, members.stride));
  }
  return Rank(number);
}

Task<Message> run_in_group(Communicator& strand, Members members, StartedProgram program) {
  Group group(strand, members);
  co_return co_await program(group);
}

}  // namespace

Group::Group(Communicator& parent, Members members)
    : ForwardingCommunicator(parent, place_of(parent, members), members.count), own_(members) {}

Members Group::members() const { return parent().members().subset(own_); }

Request Group::isend(Rank to, Tag tag, Message message) {
  return parent().isend(in_parent(to), tag, std::move(message));
}

Request Group::irecv(Rank from, Tag tag) { return parent().irecv(in_parent(from), tag); }

Request Group::post_in_switches(const Members& members, InSwitches part) {
  return parent().post_in_switches(own_.subset(members), std::move(part));
}

Task<void> Group::double_among(Members members, DoublingPart& part, Tag tag) {
  return parent().double_among(own_.subset(members), part, tag);
}

Task<void> Group::rounds_among(Members members, const RoundsPart& part, Tag tag) {
  return parent().rounds_among(own_.subset(members), part, tag);
}

Rank Group::in_parent(Rank member) const {
  // The index could still be a valid rank of the parent, which would not report the error.
  if (member.value() < 0 || member.value() >= size()) {
    throw SimulationError(
        fmt::format("rank {} of a group names rank {} as its peer, but ranks are 0 to {}",
                    rank().value(), member.value(), size() - 1));
  }
  return own_.at(member.value());
}

Request Group::start_program(StartedProgram program) {
  return start_on_parent([members = own_, program = std::move(program)](Communicator& strand) {
    return run_in_group(strand, members, program);
  });
}

}  // namespace thinwire::inline kernel
