#include "sim/machine/networks/alphabeta/alphabeta.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/machine/networks/common/shared_links_loop.hpp"

namespace thinwire::networks {

namespace {

/// The links of the α-β machine: the send port of rank r is link 2r, its receive port link 2r + 1.
/// A port serves one second of messages per second.
class RankPorts {
 public:
  struct Route {};
  static constexpr bool kOnlyPorts = true;
  static constexpr bool kHasPlaces = false;
  static constexpr bool kMayAdapt = false;
  struct Path {
    std::array<topologies::LinkIndex, 2> shared;
    static constexpr double extra_latency = 0;
  };
  /// Nothing but the ports would be recorded.
  struct Recorder {
    static void departs(TransferIndex /*index*/, const Path& /*path*/) {}
    static void completes(TransferIndex /*index*/, const Transfer<Route>& /*transfer*/,
                          double /*crossed*/) {}
    static void crossed(const SwitchTree::Links& /*links*/, Words /*words*/, double /*begin*/,
                        double /*end*/) {}
  };

  RankPorts(const LogGP& machine, const ReducingSwitches& switches)
      : machine_(machine), switches_(switches) {}

  [[nodiscard]] double lookahead() const { return machine_.latency.value(); }
  [[nodiscard]] static Route route(Rank /*from*/, Rank /*to*/) { return {}; }
  [[nodiscard]] double latency(Rank /*from*/, Rank /*to*/, Route /*route*/) const {
    return machine_.latency.value();
  }
  static void prefetch_end(Rank /*rank*/) {}
  static void prefetch_route(Rank /*from*/, Rank to, const FairLinks& links) {
    links.prefetch(receive_port(to));
  }
  static void prefetch_path(Route /*route*/) {}
  [[nodiscard]] static Path minimal_path(Rank from, Rank to, Route /*route*/) {
    return {.shared = {send_port(from), receive_port(to)}};
  }
  [[nodiscard]] double demand(Route route, Words words) const { return uncontended(route, words); }
  [[nodiscard]] double uncontended(Route /*route*/, Words words) const {
    return machine_.gap.value() +
           machine_.gap_per_word.value() * static_cast<double>(words.value());
  }
  [[nodiscard]] double send_occupancy(Rank /*from*/, Route route, Words words) const {
    return uncontended(route, words);
  }
  [[nodiscard]] const ReducingSwitches& switches() const { return switches_; }
  [[nodiscard]] SwitchTree switch_tree(const Members& members, ReducingLevel /*level*/) const {
    SwitchTree tree{.latency = machine_.latency.value()};
    for (int i = 0; i < members.count; ++i) {
      const Rank member = members.at(i);
      tree.up.push_back({send_port(member)});
      tree.down.push_back({receive_port(member)});
    }
    return tree;
  }
  [[nodiscard]] double switch_demand(const SwitchTree& tree, const ReducingSwitch& of,
                                     Words words) const {
    return alone_in_switches(tree, of, words);
  }
  [[nodiscard]] double alone_in_switches(const SwitchTree& /*tree*/, const ReducingSwitch& of,
                                         Words words) const {
    const double per_word = std::max(machine_.gap_per_word.value(), 4 / of.bandwidth);
    return machine_.gap.value() + per_word * static_cast<double>(words.value());
  }

 private:
  [[nodiscard]] static topologies::LinkIndex send_port(Rank rank) {
    return 2 * static_cast<topologies::LinkIndex>(rank.value());
  }
  [[nodiscard]] static topologies::LinkIndex receive_port(Rank rank) { return send_port(rank) + 1; }

  const LogGP& machine_;
  const ReducingSwitches& switches_;
};

}  // namespace

RunReport AlphaBetaNetwork::run(int ranks, const RankProgram& program) {
  const RankPorts ports(machine_, switches_);
  const std::vector<double> bandwidths(2 * static_cast<std::size_t>(ranks), 1.0);
  SharedLinksLoop<RankPorts> loop(ranks, ports, bandwidths, host_, timeline(), nullptr, read_ahead_,
                                  events_alone_);
  loop.give_up_after(limit());
  return loop.run(program);
}

}  // namespace thinwire::networks
