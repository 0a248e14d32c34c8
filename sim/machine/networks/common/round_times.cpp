#include "sim/machine/networks/common/round_times.hpp"

#include <algorithm>
#include <bit>

namespace thinwire::networks {

namespace {

/// Members [first, last), whose peer is `away` from each.
struct Range {
  std::ptrdiff_t first;
  std::ptrdiff_t last;
  std::ptrdiff_t away;
};

/// All that a round reads and writes, by member.
struct Arrays {
  double* __restrict clocks;
  double* __restrict ends;
  const double* __restrict on_ports;
  const double* __restrict work;  ///< null if there is none
  RoundCosts costs;
};

// The arithmetic is the event loop's, operation by operation, so that no digit differs.

/// The ends of messages to members that are `away`.
[[gnu::always_inline]] inline void find_ends(const Arrays& of, Range range) {
  const double* const clocks = of.clocks;
  if (of.costs.none()) {
    for (std::ptrdiff_t i = range.first; i < range.last; ++i) {
      of.ends[i] = std::max(clocks[i + range.away], clocks[i]) + of.on_ports[i];
    }
    return;
  }
  const RoundCosts& costs = of.costs;
  for (std::ptrdiff_t i = range.first; i < range.last; ++i) {
    const double posted = clocks[i] + costs.overhead;
    double departs = std::max(clocks[i + range.away], posted);
    if (costs.handshake) departs = std::max(departs, posted + costs.latency) + costs.latency;
    departs += costs.handshake_time;
    of.ends[i] = departs + costs.latency + of.on_ports[i];
  }
}

/// The next clocks of members that receive from those `away`.
[[gnu::always_inline]] inline void go_on(const Arrays& of, Range range) {
  const double* const ends = of.ends;
  const double overhead = of.costs.overhead;  // a message has ended when its sender has posted it
  if (of.work != nullptr) {
    for (std::ptrdiff_t i = range.first; i < range.last; ++i) {
      of.clocks[i] = std::max(ends[i], ends[i + range.away]) + overhead + of.work[i + range.away];
    }
  } else {
    for (std::ptrdiff_t i = range.first; i < range.last; ++i) {
      of.clocks[i] = std::max(ends[i], ends[i + range.away]) + overhead;
    }
  }
}

[[gnu::always_inline]] inline void shift_all(const Arrays& of, std::ptrdiff_t members,
                                             std::ptrdiff_t distance) {
  // In one pass, so that each clock is read and written once while it is in the cache.
  constexpr std::ptrdiff_t kTogether = 1024;
  const std::ptrdiff_t last = members - distance;  // from here on the peer is behind the end
  find_ends(of, {last, members, -last});
  for (std::ptrdiff_t first = 0; first < members; first += kTogether) {
    const std::ptrdiff_t end = std::min(first + kTogether, members);
    find_ends(of, {first, std::min(end, last), distance});
    go_on(of, {first, std::min(end, distance), last});
    go_on(of, {std::max(first, distance), end, -distance});
  }
}

[[gnu::always_inline]] inline void flip_all(const Arrays& of, std::ptrdiff_t members,
                                            std::ptrdiff_t distance) {
  const std::ptrdiff_t together = distance & -distance;
  const auto for_all = [&](auto take) {
    for (std::ptrdiff_t first = 0; first < members; first += together) {
      take(of, Range{first, first + together, (first ^ distance) - first});
    }
  };
  for_all([](const Arrays& all, Range range) { find_ends(all, range); });
  for_all([](const Arrays& all, Range range) { go_on(all, range); });
}

[[gnu::always_inline]] inline void take_round(const Arrays& of, std::ptrdiff_t members,
                                              std::ptrdiff_t distance, bool flips) {
  if (flips) {
    flip_all(of, members, distance);
  } else {
    shift_all(of, members, distance);
  }
}

#ifdef __x86_64__
// The same with vectors of four.
[[gnu::target("avx2")]] void take_round_by_fours(const Arrays& of, std::ptrdiff_t members,
                                                 std::ptrdiff_t distance, bool flips) {
  take_round(of, members, distance, flips);
}
#endif

}  // namespace

void RoundTimes::take(const Rounds& rounds, int round, std::span<const double> on_ports,
                      std::span<const double> work) {
  const Arrays arrays{.clocks = clocks_.data(),
                      .ends = ends_.data(),
                      .on_ports = on_ports.data(),
                      .work = work.empty() ? nullptr : work.data(),
                      .costs = costs_};
  const auto members = static_cast<std::ptrdiff_t>(clocks_.size());
  const std::ptrdiff_t distance =
      rounds.flips ? rounds.distance : rounds.peers(0, round, static_cast<int>(members)).to.value();
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    take_round_by_fours(arrays, members, distance, rounds.flips);
    return;
  }
#endif
  take_round(arrays, members, distance, rounds.flips);
}

}  // namespace thinwire::networks
