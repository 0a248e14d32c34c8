// Collectives in switches (kernel/in_switches.hpp) between their first post and their end.
//
// A collective begins when its last member has posted its part. The switches pass on and combine
// what arrives while it arrives, so that all links of the tree are busy at the same time: after the
// latency of the tree, up and down, each member's links carry what it sends, in the one direction,
// and what it receives, in the other. A link that several members have in common carries the words
// of the first of them. The collective ends when all links have served it.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

using SumIndex = std::uint32_t;
inline constexpr SumIndex kNoSum = UINT32_MAX;

/// The links between the members of a group and the root of their tree of switches.
struct SwitchTree {
  using Links = std::vector<topologies::LinkIndex>;

  std::vector<Links> up = {};    ///< by member; without the links of members before it
  std::vector<Links> down = {};  ///< likewise
  double latency = 0;            ///< seconds from a member to the root and back
  double bandwidth = HUGE_VAL;   ///< of the slowest link, in bytes per second
  int levels = 1;                ///< switches on the way to the root, itself included
};

/// One collective.
struct SwitchSum {
  Members members;
  ReducingLevel level = ReducingLevel::network;
  Strand strand = Strand::main;
  SwitchFunction function = {};
  std::vector<Message> sent = {};     ///< by member
  std::vector<SlotIndex> slots = {};  ///< of the members' requests
  int posted = 0;
  double begins = 0;  ///< the last post, in seconds
  double alone = 0;   ///< its end if it shares no link
  int flows = 0;      ///< that links still serve
  std::vector<Message> results = {};

  [[nodiscard]] Rank member(int index) const { return members.at(index); }
};

/// All collectives of a run.
class SwitchSums {
 public:
  /// Takes the part of a rank, posted at `now`, whose request has the slot `slot`. Returns the
  /// collective, whose last member has posted if `posted` is the number of members.
  SumIndex post(Rank rank, Strand strand, const Members& members, InSwitches&& part, SlotIndex slot,
                double now) {
    const auto at = static_cast<std::size_t>(members.number_of(rank));
    Open& open = open_[{strand, part.tag.value(), members.key()}];
    open.posted.resize(static_cast<std::size_t>(members.count));
    const std::uint64_t turn = open.posted[at]++;
    while (turn - open.ended >= open.sums.size()) open.sums.push_back(acquire());
    const SumIndex index = open.sums[turn - open.ended];
    SwitchSum& sum = sums_[index];
    if (sum.posted == 0) {
      sum.members = members;
      sum.level = part.level;
      sum.strand = strand;
      sum.sent.resize(static_cast<std::size_t>(members.count));
      sum.slots.resize(static_cast<std::size_t>(members.count));
      sum.function = std::move(part.function);
    }
    sum.sent[at] = std::move(part.message);
    sum.slots[at] = slot;
    sum.begins = std::max(sum.begins, now);
    if (++sum.posted == members.count) {  // those before it are complete too
      open.sums.pop_front();
      ++open.ended;
    }
    return index;
  }
  SwitchSum& operator[](SumIndex index) { return sums_[index]; }
  void release(SumIndex index) {
    sums_[index] = {};
    free_.push_back(index);
  }

 private:
  using Key = std::tuple<Strand, int, decltype(Members{}.key())>;
  struct Open {
    std::vector<std::uint64_t> posted = {};  ///< by member
    std::deque<SumIndex> sums = {};          ///< that not all members have posted, in order
    std::uint64_t ended = 0;
  };

  SumIndex acquire() {
    if (free_.empty()) {
      sums_.emplace_back();
      return static_cast<SumIndex>(sums_.size() - 1);
    }
    const SumIndex index = free_.back();
    free_.pop_back();
    return index;
  }

  std::map<Key, Open> open_;
  std::deque<SwitchSum> sums_;
  std::vector<SumIndex> free_;
};

}  // namespace thinwire::networks
