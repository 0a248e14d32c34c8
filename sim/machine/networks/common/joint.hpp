// What ranks take together: exchanges of all of them, rounds of the members of groups, and a send and
// a receive that a rank waits for.
#pragma once

#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/host_rules.hpp"
#include "sim/machine/networks/common/joint_exchange.hpp"
#include "sim/machine/networks/common/joint_rounds.hpp"
#include "sim/machine/networks/common/paired_posts.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// All three, for the ranks of a loop, each a `Poster`.
template <class Fabric, class Poster>
struct Joint {
  /// All outlive it.
  Joint(UnderWay<Fabric>& under_way, const HostRules<Fabric>& rules, EventLoop& of_loop)
      : all(under_way),
        loop(of_loop),
        exchange(under_way, rules),
        rounds(under_way),
        pairs(under_way, rules, of_loop) {}

  /// To be called when nothing is left to do now. Lets ranks go on that wait for one another, when they
  /// have all come, or will not. Returns whether it did. `more`: there are other events to wait for.
  bool end(bool more) {
    if constexpr (Fabric::kOnlyPorts) {
      if (exchange.ends(more)) {
        exchange.end(
            all.now, [this](Rank rank) { loop.leave_exchange(rank); },
            [this](Rank rank) { loop.go_on(rank); });
        return true;
      }
      if (rounds.ends(more)) {
        rounds.end(all.now, [this](Rank rank) { loop.resume_main(rank); });
        return true;
      }
    }
    return false;
  }

  UnderWay<Fabric>& all;
  EventLoop& loop;
  JointExchange<Fabric, Poster> exchange;
  JointRounds<Fabric, Poster> rounds;
  PairedPosts<Fabric, Poster> pairs;
};

}  // namespace thinwire::networks
