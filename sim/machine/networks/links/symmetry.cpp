#include "sim/machine/networks/links/symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"

namespace thinwire::networks {

namespace {

constexpr int kRandomShifts = 16;
constexpr double kTolerance = 0.05;
constexpr std::uint64_t kSeed = 1;

/// To whom each rank sends one byte: to the rank at a distance, or to the one whose number differs in
/// some bits.
struct Pattern {
  bool flip;
  std::size_t by;

  [[nodiscard]] std::size_t receiver(std::size_t from, std::size_t ranks) const {
    return flip ? from ^ by : (from + by) % ranks;
  }
};

/// What the messages of a pattern need.
struct Needs {
  double busiest = 0;  ///< seconds of the busiest link
  double latency = 0;  ///< mean, in seconds
};

/// The load of links, for one pattern after the other.
class Loads {
 public:
  explicit Loads(const topologies::Platform& platform)
      : platform_(platform), messages_(platform.links().size()) {}

  void add(topologies::LinkIndex index) {
    const topologies::PlatformLink& link = platform_.links()[index];
    if (link.fat_pipe) return;
    if (messages_[index]++ == 0) used_.push_back(index);
    busiest_ = std::max(busiest_, messages_[index] / link.bandwidth);
  }
  /// The time of the busiest link; the next pattern begins.
  double take() {
    for (const topologies::LinkIndex link : used_) messages_[link] = 0;
    used_.clear();
    return std::exchange(busiest_, 0);
  }

 private:
  const topologies::Platform& platform_;
  std::vector<double> messages_;  ///< by link
  std::vector<topologies::LinkIndex> used_;
  double busiest_ = 0;
};

Needs of_all(const topologies::Platform& platform, std::span<const topologies::HostIndex> hosts,
             Pattern pattern, Loads& loads) {
  std::vector<topologies::LinkIndex> links;
  Needs needs;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    platform.route_into(hosts[from], hosts[pattern.receiver(from, hosts.size())], links);
    for (const topologies::LinkIndex link : links) {
      loads.add(link);
      needs.latency += platform.links()[link].latency.value();
    }
  }
  needs.busiest = loads.take();
  needs.latency /= static_cast<double>(hosts.size());
  return needs;
}

Needs of_few(const Fabric& fabric, std::size_t few, std::size_t ranks, Pattern pattern,
             Loads& loads) {
  Needs needs;
  for (std::size_t i = 0; i < few; ++i) {
    const Rank from(static_cast<int>(i));
    const Rank to(static_cast<int>(pattern.receiver(i, ranks)));
    const topologies::Way way = fabric.way(from, to);
    for (const topologies::LinkIndex link : fabric.minimal_path(from, to, way).shared) {
      if (link < fabric.links()) loads.add(link);
    }
    needs.latency += fabric.latency(from, to, way);
  }
  needs.busiest = loads.take();
  needs.latency /= static_cast<double>(few);
  return needs;
}

}  // namespace

void check_symmetric(const topologies::Platform& platform,
                     std::span<const topologies::HostIndex> hosts, const Fabric& fabric,
                     const LinksSettings& settings) {
  const std::size_t ranks = hosts.size();
  const auto few = static_cast<std::size_t>(settings.representatives);
  const auto refuse = [&](const std::string& what) {
    const std::uint32_t group = platform.hosts()[hosts[0]].group;
    const auto in_group = std::ranges::count_if(
        hosts, [&](topologies::HostIndex host) { return platform.hosts()[host].group == group; });
    throw InputError(fmt::format(
        "/representatives: {} of {} ranks do not stand for all on {}: {}. Take all ranks of one or "
        "several groups, cells or pods{}",
        few, ranks, platform.path(), what,
        group == topologies::PlatformHost::kNoGroup
            ? ""
            : fmt::format("; the first group has {}", in_group)));
  };
  Loads loads(platform);
  const auto compared = [&](Pattern pattern) {
    const std::pair<Needs, Needs> both{of_all(platform, hosts, pattern, loads),
                                       of_few(fabric, few, ranks, pattern, loads)};
    const auto& [all, represented] = both;
    if (std::abs(represented.busiest - all.busiest) > kTolerance * all.busiest) {
      const std::string receiver = pattern.flip
                                       ? fmt::format("rank i sends to rank i xor {}", pattern.by)
                                       : fmt::format("rank i sends to rank i + {}", pattern.by);
      refuse(
          fmt::format("if each {}, the busiest link is busy for {:.2f} times as long as they say",
                      receiver, all.busiest / represented.busiest));
    }
    return both;
  };
  for (const std::size_t distance : {std::size_t{1}, few / 2, few - 1, few + 1, ranks / 2}) {
    if (distance < ranks) compared({.flip = false, .by = distance});
  }
  for (std::size_t bit = 1; std::has_single_bit(ranks) && bit < ranks; bit *= 2) {
    compared({.flip = true, .by = bit});
  }
  double of_all_ranks = 0;
  double of_few_ranks = 0;
  for (std::uint64_t draw = 0; draw < kRandomShifts; ++draw) {
    const auto [all, represented] =
        compared({.flip = false, .by = random_bits(kSeed, draw) % ranks});
    of_all_ranks += all.latency;
    of_few_ranks += represented.latency;
  }
  if (std::abs(of_few_ranks - of_all_ranks) > kTolerance * of_all_ranks) {
    refuse(fmt::format("the latency between two ranks is {:.2f} times as long as they say",
                       of_all_ranks / of_few_ranks));
  }
}

}  // namespace thinwire::networks
