// A collective that switches of the network compute: what the members of a group send is combined on
// its way, and each member receives its result.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "sim/core/base/reducing_switches.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline kernel {

/// `count` ranks of a communicator: first, first + stride, first + 2 stride ... With a list these are
/// places in it, and the list, which outlives whoever knows the members, has the ranks.
struct Members {
  int first = 0;
  int count = 1;
  int stride = 1;
  const std::int32_t* list = nullptr;

  /// The rank of a member, by its number among them.
  [[nodiscard]] Rank at(int number) const {
    const int place = first + number * stride;
    return Rank(list == nullptr ? place : list[place]);
  }
  /// The number of a rank among them; -1 of a rank that is no member.
  [[nodiscard]] int number_of(Rank rank) const {
    if (list != nullptr) {
      for (int number = 0; number < count; ++number) {
        if (at(number) == rank) return number;
      }
      return -1;
    }
    const int beyond = rank.value() - first;
    return beyond >= 0 && beyond % stride == 0 && beyond / stride < count ? beyond / stride : -1;
  }
  /// The members whose numbers among these members are in `of`. Only all ranks of a communicator have a
  /// subset with a list.
  [[nodiscard]] Members subset(const Members& of) const {
    if (of.list != nullptr) return of;
    return {.first = first + of.first * stride,
            .count = of.count,
            .stride = of.stride * stride,
            .list = list};
  }
  /// Equal keys mean the same members.
  [[nodiscard]] auto key() const { return std::tuple(first, count, stride, list); }
};

/// The result of each member, given what the members sent in their order.
using SwitchFunction = std::function<std::vector<Message>(std::span<const Message> sent)>;

/// The part of one rank in such a collective. The members post their parts in the same order; parts
/// of one group, strand and tag are matched in this order. `function` is called once, when the last
/// member has posted; whatever it refers to must live as long as any member waits.
struct InSwitches {
  ReducingLevel level = ReducingLevel::network;
  Tag tag;
  Message message;
  SwitchFunction function = {};
};

}  // namespace thinwire::inline kernel
