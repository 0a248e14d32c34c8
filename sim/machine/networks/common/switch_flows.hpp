// Collectives in switches (switch_sums.hpp) as flows on the links between the ranks and the root of
// their tree of switches.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// The collectives in switches of a run. Times are in seconds.
template <class Fabric>
class SwitchFlows {
 public:
  using Transfer = typename UnderWay<Fabric>::Transfer;
  using Recorder = typename Fabric::Recorder;

  /// `recorder` may be nullptr.
  SwitchFlows(UnderWay<Fabric>& all, SlotPool& slots, Recorder* recorder)
      : all_(all), slots_(slots), recorder_(recorder) {}

  /// Takes a rank's part of a collective, which begins with the last one. Throws SimulationError
  /// where the fabric has no such switches.
  void post(Rank rank, Strand strand, const Members& members, InSwitches&& part, SlotIndex slot,
            double now) {
    const ReducingLevel level = part.level;
    if (!all_.fabric.switches().at(level)) throw_no_reducing_switches(level);
    const SumIndex index = sums_.post(rank, strand, members, std::move(part), slot, now);
    SwitchSum& sum = sums_[index];
    if (sum.posted < members.count) return;
    sum.results = sum.function(sum.sent);
    begin(index);
  }
  /// A flow begins to be served by its links.
  void enter(TransferIndex index) {
    const Transfer& flow = all_.transfers[index];
    const SwitchSum& sum = sums_[all_.transfers.rare(index).sum];
    const double demand = all_.fabric.switch_demand(tree_of(sum), switches_of(sum), flow.words);
    if (!std::isfinite(all_.now + demand)) throw_time_overflow();
    all_.links.begin(all_.now, index, demand);
  }
  /// The links of a flow have served it.
  void leave(TransferIndex index) {
    const Transfer& flow = all_.transfers[index];
    const SumIndex at = all_.transfers.rare(index).sum;
    SwitchSum& sum = sums_[at];
    const double time = std::max(all_.now, sum.alone);
    if (recorder_ != nullptr) {
      const int member = sum.members.number_of(flow.from);
      recorder_->crossed(links_of(sum, member, flow.kind), flow.words, flow.departed, time);
    }
    all_.transfers.release(index);
    if (--sum.flows == 0) end(at, time);
  }

 private:
  void begin(SumIndex index) {
    SwitchSum& sum = sums_[index];
    sum.alone = sum.begins;
    if (sum.members.count == 1) return end(index, sum.begins);
    const SwitchTree& tree = tree_of(sum);
    const double begins =
        sum.begins + tree.latency + switches_of(sum).latency.value() * tree.levels;
    sum.alone = begins;
    for (int i = 0; i < sum.members.count; ++i) {
      for (const TransferKind kind : {TransferKind::to_switches, TransferKind::from_switches}) {
        begin_flow(index, i, kind, begins);
      }
    }
    if (sum.flows == 0) end(index, begins);
  }
  /// Begins what a member sends, or what it receives, if there is anything on links of its own.
  void begin_flow(SumIndex index, int member, TransferKind kind, double begins) {
    SwitchSum& sum = sums_[index];
    const auto at = static_cast<std::size_t>(member);
    const bool upwards = kind == TransferKind::to_switches;
    const Words words = (upwards ? sum.sent : sum.results)[at].words;
    const SwitchTree& tree = tree_of(sum);
    if (words == Words(0) || links_of(sum, member, kind).empty()) return;
    sum.alone =
        std::max(sum.alone, begins + all_.fabric.alone_in_switches(tree, switches_of(sum), words));
    ++sum.flows;
    const TransferIndex flow = all_.transfers.acquire();
    all_.transfers[flow] = {.route = {},
                            .from = sum.member(member),
                            .to = sum.member(member),
                            .strand = sum.strand,
                            .eager = false,
                            .kind = kind,
                            .words = words,
                            .send = kNoSlot,
                            .receive = sum.slots[at],
                            .posted = sum.begins,
                            .departed = sum.begins,
                            .latency = begins - sum.begins};
    all_.count(flow);
    all_.transfers.rare(flow).sum = index;
    all_.links.set_links(flow, links_of(sum, member, kind));
    all_.enter_at(begins, flow);
  }
  void end(SumIndex index, double time) {
    SwitchSum& sum = sums_[index];
    for (int i = 0; i < sum.members.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      slots_[sum.slots[at]].message = std::move(sum.results[at]);
      all_.completions.push_back({sum.member(i), sum.strand, sum.slots[at], time});
    }
    sums_.release(index);
  }

  [[nodiscard]] const ReducingSwitch& switches_of(const SwitchSum& sum) const {
    return *all_.fabric.switches().at(sum.level);
  }
  const SwitchTree& tree_of(const SwitchSum& sum) {
    const Members& members = sum.members;
    const auto [found, added] = trees_.try_emplace({sum.level, members.key()});
    if (added) found->second = all_.fabric.switch_tree(members, sum.level);
    return found->second;
  }
  [[nodiscard]] const SwitchTree::Links& links_of(const SwitchSum& sum, int member,
                                                  TransferKind kind) {
    const SwitchTree& tree = tree_of(sum);
    const bool upwards = kind == TransferKind::to_switches;
    return (upwards ? tree.up : tree.down)[static_cast<std::size_t>(member)];
  }

  UnderWay<Fabric>& all_;
  SlotPool& slots_;
  Recorder* recorder_;
  SwitchSums sums_;
  /// By level and members.
  std::map<std::pair<ReducingLevel, decltype(Members{}.key())>, SwitchTree> trees_;
};

}  // namespace thinwire::networks
