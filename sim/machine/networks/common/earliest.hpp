// The earliest of many times that change all the time: a tournament.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace thinwire::networks {

/// Times of so many players, which are not negative, and infinite at first. Of equal times that of the
/// first player is the earliest.
class Earliest {
 public:
  explicit Earliest(std::size_t players)
      : players_(std::bit_ceil(players)), winners_(2 * players_) {
    for (std::size_t i = 0; i < players_; ++i) {
      winners_[players_ + i].player = static_cast<std::uint32_t>(i);
    }
  }

  [[nodiscard]] double time() const { return std::bit_cast<double>(winners_[1].time); }
  /// Whose time it is, if it is finite.
  [[nodiscard]] std::uint32_t player() const { return winners_[1].player; }
  void set(std::uint32_t player, double time) {
    std::size_t match = players_ + player;
    Winner winner{.time = std::bit_cast<std::uint64_t>(time), .player = player};
    winners_[match] = winner;
    for (; match > 1; match /= 2) {
      // Who wins is unpredictable: without branches. Whom the winner meets is known beforehand.
      const Winner& other = winners_[match ^ 1];
      const auto earlier = static_cast<std::uint64_t>(other.time < winner.time);
      const auto equal = static_cast<std::uint64_t>(other.time == winner.time);
      const auto first = static_cast<std::uint64_t>(other.player < winner.player);
      const std::uint64_t loses = 0 - (earlier | (equal & first));  // all bits or none
      winner.time ^= (winner.time ^ other.time) & loses;
      winner.player ^= (winner.player ^ other.player) & static_cast<std::uint32_t>(loses);
      Winner& known = winners_[match / 2];
      if (winner.player == known.player && winner.time == known.time) return;
      known = winner;
    }
  }

 private:
  /// Times by their bits, which have the same order.
  struct Winner {
    std::uint64_t time = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    std::uint32_t player = 0;
  };
  std::size_t players_;
  std::vector<Winner> winners_;  ///< of match i, between those of 2i and 2i + 1; then the players
};

}  // namespace thinwire::networks
