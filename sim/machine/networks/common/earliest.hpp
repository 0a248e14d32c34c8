// The earliest of many times that change all the time: a tournament with eight in a match.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace thinwire::networks {

/// Times of so many players, which are not negative, and infinite at first. Of players with
/// equal times the first one is the earliest.
class Earliest {
 public:
  explicit Earliest(std::size_t players) {
    do {
      players = (players + 7) / 8;
      rounds_.emplace_back(players);
    } while (players > 1);
  }

  [[nodiscard]] double time() const { return rounds_.back().front().earliest(); }
  /// Whose time it is, if it is finite.
  [[nodiscard]] std::uint32_t player() const {
    const double first = time();
    std::size_t winner = 0;
    for (std::size_t round = rounds_.size(); round-- > 0;) {
      winner = 8 * winner + rounds_[round][winner].first_at(first);
    }
    return static_cast<std::uint32_t>(winner);
  }
  void set(std::uint32_t player, double time) {
    std::size_t at = player;
    rounds_.front()[at / 8].times[at % 8] = time;
    for (std::size_t round = 1; round < rounds_.size(); ++round) {
      at /= 8;
      double& known = rounds_[round][at / 8].times[at % 8];
      const double earliest = rounds_[round - 1][at].earliest();
      if (earliest == known) return;
      known = earliest;
    }
  }

 private:
  struct alignas(64) Match {
    std::array<double, 8> times{kNever, kNever, kNever, kNever, kNever, kNever, kNever, kNever};

    [[nodiscard]] double earliest() const {
      // Who wins is unpredictable: without branches.
      const auto& t = times;
      return std::min(std::min(std::min(t[0], t[4]), std::min(t[2], t[6])),
                      std::min(std::min(t[1], t[5]), std::min(t[3], t[7])));
    }
    /// The first of them with a time that one of them has.
    [[nodiscard]] std::size_t first_at(double time) const {
      unsigned found = 0;  // a bit for each that has it
      for (std::size_t i = 0; i < times.size(); ++i) {
        const bool same =
            std::bit_cast<std::uint64_t>(times[i]) == std::bit_cast<std::uint64_t>(time);
        found |= static_cast<unsigned>(same) << i;
      }
      return static_cast<std::size_t>(std::countr_zero(found));
    }
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  std::vector<std::vector<Match>> rounds_;  ///< the players' own first; the last is one match
};

}  // namespace thinwire::networks
