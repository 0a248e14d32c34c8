// A collective that switches of the network compute: what the members of a group send is combined on
// its way, and each member receives its result.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sim/core/base/reducing_switches.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline kernel {

/// `count` ranks of a communicator: first, first + stride, first + 2 stride ...
struct Members {
  int first = 0;
  int count = 1;
  int stride = 1;

  /// The rank of a member, by its number among them, and back.
  [[nodiscard]] Rank at(int number) const { return Rank(first + number * stride); }
  [[nodiscard]] int number_of(Rank rank) const { return (rank.value() - first) / stride; }
  /// Those of the members that `of`, given by their numbers, are.
  [[nodiscard]] Members subset(const Members& of) const {
    return {.first = at(of.first).value(), .count = of.count, .stride = of.stride * stride};
  }
};

/// The result of each member, given what the members sent in their order.
using SwitchFunction = std::function<std::vector<Message>(std::span<const Message> sent)>;

/// The part of one rank in such a collective. The members post theirs in the same order; those of
/// one group, strand and tag are matched in this order. `function` is called once, when the last
/// member has posted; whatever it refers to must live as long as any member waits.
struct InSwitches {
  ReducingLevel level = ReducingLevel::network;
  Tag tag;
  Message message;
  SwitchFunction function = {};
};

}  // namespace thinwire::inline kernel
