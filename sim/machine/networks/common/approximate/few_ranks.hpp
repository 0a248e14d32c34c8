// Which ranks run when few of them stand for all.
//
// R of P ranks run, where R divides P, one for each remainder r of a division by R. Representative r
// stands for the ranks r, r + R, r + 2R ...
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/in_switches.hpp"

namespace thinwire::networks {

/// R of P ranks.
struct FewRanks {
  /// Which of the ranks with the same remainder runs.
  enum class Which : std::uint8_t {
    /// If P is a power of two, they are spread over all, so that they have parts of all of the
    /// gradient. At another P, schedules for powers of two fold the first ranks in pairs
    /// (algorithms/collectives/folding.hpp), which are a majority if P is well above the middle of
    /// two powers: then they are the first R ranks.
    spread,
    first  ///< of the first R, which are next to each other on a platform and in nodes
  };

  int ranks = 1;    ///< P
  int running = 1;  ///< R, which divides P
  Which which = Which::spread;

  /// How many ranks each one stands for.
  [[nodiscard]] int stands_for() const { return ranks / running; }
  /// The number among the ranks that run of the representative of a rank, from 0 on.
  [[nodiscard]] int image(Rank rank) const { return rank.value() % running; }
  /// The rank that such a number is.
  [[nodiscard]] Rank name(int image) const;
  /// The rank that runs in place of a rank.
  [[nodiscard]] Rank representative(Rank rank) const { return name(image(rank)); }
  /// The same by number among members: the member itself if its representative is no member.
  [[nodiscard]] int representative_among(const Members& members, int number) const;
  /// The members that run, by number, in order.
  [[nodiscard]] std::vector<std::int32_t> running_among(const Members& members) const;
};

/// The group of parts for which one of `count` ranks that run stands, by its number among them. If
/// they are a power of two, it has the bits of the number in reverse order: an exchange by doubling
/// joins such ranks in an order in which the last steps join the halves of the gradient.
[[nodiscard]] std::uint32_t group_of(std::uint32_t number, std::uint32_t count);

}  // namespace thinwire::networks
