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
/// Between two groups of a dragonfly, routes differ by up to four short links.
constexpr double kToleranceOfGroups = 0.25;
constexpr std::uint64_t kSeed = 1;

/// To whom each rank sends one byte: to the rank at a distance, or to the one whose number differs
/// in some bits.
struct Pattern {
  bool flip;
  std::size_t by;

  [[nodiscard]] std::size_t receiver(std::size_t from, std::size_t ranks) const {
    return flip ? from ^ by : (from + by) % ranks;
  }
};

/// What the messages of a pattern need.
struct Needs {
  double busiest = 0;  ///< seconds of the busiest link, or of one that is slow for each message
  double latency = 0;  ///< mean, in seconds
  double longest = 0;  ///< the greatest latency, in seconds
};

/// The load of links, for one pattern after the other.
class Loads {
 public:
  explicit Loads(const topologies::Platform& platform)
      : platform_(platform), messages_(platform.links().size()) {}

  void add(topologies::LinkIndex index) {
    const topologies::PlatformLink& link = platform_.links()[index];
    if (link.fat_pipe) {  // which messages do not share
      busiest_ = std::max(busiest_, 1 / link.bandwidth);
      return;
    }
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
    Seconds latency;
    platform.route_into(hosts[from], hosts[pattern.receiver(from, hosts.size())], links, &latency);
    for (const topologies::LinkIndex link : links) loads.add(link);
    needs.latency += latency.value();
    needs.longest = std::max(needs.longest, latency.value());
  }
  needs.busiest = loads.take();
  needs.latency /= static_cast<double>(hosts.size());
  return needs;
}

Needs of_few(const Fabric& fabric, std::size_t few, std::size_t ranks, Pattern pattern,
             Loads& loads) {
  Needs needs;
  double slowest = 0;  // seconds of the slowest link for one byte
  for (std::size_t i = 0; i < few; ++i) {
    const Rank from(static_cast<int>(i));
    const Rank to(static_cast<int>(pattern.receiver(i, ranks)));
    const topologies::CompactRoute route = fabric.route(from, to);
    for (const topologies::LinkIndex link : fabric.minimal_path(from, to, route).shared) {
      if (link < fabric.links()) loads.add(link);
    }
    slowest = std::max(slowest, fabric.time_of_byte(route));
    const double latency = fabric.latency(from, to, route);
    needs.latency += latency;
    needs.longest = std::max(needs.longest, latency);
  }
  needs.busiest = std::max(loads.take(), slowest);
  needs.latency /= static_cast<double>(few);
  return needs;
}

/// What a user who does not know the size of a group, or does not heed it, should be told.
std::string size_of_group(const topologies::Platform& platform,
                          std::span<const topologies::HostIndex> hosts, std::size_t few) {
  const auto group_of_host = [&](topologies::HostIndex host) {
    return platform.hosts()[host].group;
  };
  const std::uint32_t group = group_of_host(hosts[0]);
  if (group == topologies::PlatformHost::kNoGroup) return {};
  const auto size = static_cast<std::size_t>(std::ranges::count(hosts, group, group_of_host));
  return few % size == 0 ? "" : fmt::format("; the first group has {}", size);
}

}  // namespace

void check_symmetric(const topologies::Platform& platform,
                     std::span<const topologies::HostIndex> hosts, const Fabric& fabric,
                     const LinksSettings& settings) {
  const std::size_t ranks = hosts.size();
  const auto few = static_cast<std::size_t>(settings.representatives);
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        "/approximate: {} of {} ranks cannot stand for all on {}: {} in the run of all ranks. Take "
        "a number that divides the ranks and fills whole groups, cells, pods or leaves, or run all "
        "ranks{}",
        few, ranks, platform.path(), what, size_of_group(platform, hosts, few));
  };
  Loads loads(platform);
  const auto both = [&](Pattern pattern) {
    return std::pair<Needs, Needs>{of_all(platform, hosts, pattern, loads),
                                   of_few(fabric, few, ranks, pattern, loads)};
  };
  const auto check = [&](double all, double represented, double tolerance,
                         const std::string& what) {
    if (std::abs(represented - all) <= tolerance * all) return;
    refuse(fmt::format("{} {:.2f} times as long", what, all / represented));
  };
  const bool in_groups = platform.hosts()[hosts[0]].group != topologies::PlatformHost::kNoGroup;
  const double tolerance_of_longest = in_groups ? kToleranceOfGroups : kTolerance;
  // Rings and schedules of powers of two need these one by one.
  std::vector<Pattern> patterns;
  for (const std::size_t distance : {std::size_t{1}, few / 2, few - 1, few + 1, ranks / 2}) {
    if (distance < ranks) patterns.push_back({.flip = false, .by = distance});
  }
  for (std::size_t bit = 1; std::has_single_bit(ranks) && bit < ranks; bit *= 2) {
    patterns.push_back({.flip = true, .by = bit});
  }
  for (const Pattern pattern : patterns) {
    const auto [all, represented] = both(pattern);
    const std::string sends = fmt::format("if each rank i sends to rank i {} {}, ",
                                          pattern.flip ? "xor" : "+", pattern.by);
    check(all.busiest, represented.busiest, kTolerance, sends + "the busiest link is busy");
    check(all.longest, represented.longest, tolerance_of_longest, sends + "the longest latency is");
  }
  // A direct exchange goes through all distances.
  Needs sum_of_all;
  Needs sum_of_few;
  for (std::uint64_t draw = 0; draw < kRandomShifts; ++draw) {
    const auto [all, represented] = both({.flip = false, .by = random_bits(kSeed, draw) % ranks});
    sum_of_all.busiest += all.busiest;
    sum_of_all.latency += all.latency;
    sum_of_few.busiest += represented.busiest;
    sum_of_few.latency += represented.latency;
  }
  check(sum_of_all.busiest, sum_of_few.busiest, kTolerance,
        "if each rank sends to the rank at the same distance, the busiest link is on average busy");
  check(sum_of_all.latency, sum_of_few.latency, kTolerance, "the latency between two ranks is");
}

}  // namespace thinwire::networks
