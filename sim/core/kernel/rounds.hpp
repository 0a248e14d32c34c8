// Rounds in which each member of a group sends one message and receives one. All members know whom
// they meet, and how long each message is, before the first round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline kernel {

/// Rounds that follow one another, with as many pieces as members. In round i, from 0 on, member m
/// sends piece m + piece + i * next_piece to member m + distance + i * next_distance, both modulo the
/// number of members. With `flips`, it sends to member m ^ distance.
struct Rounds {
  int count = 1;
  int distance = 1;
  int next_distance = 0;
  bool flips = false;
  int piece = 0;
  int next_piece = 0;
  bool sums = false;  ///< each member works on what it receives
  int tells = -1;     ///< pieces are equal if their numbers have the same of these bits

  /// The peers, by their numbers, of a member in a round.
  [[nodiscard]] ExchangePeers peers(int member, int round, int members) const {
    if (flips) return {.to = Rank(member ^ distance), .from = Rank(member ^ distance)};
    const int away = after(0, distance, next_distance, round, members);
    const int to = member + away;
    const int from = member - away;
    return {.to = Rank(to < members ? to : to - members),
            .from = Rank(from < 0 ? from + members : from)};
  }
  friend bool operator==(const Rounds&, const Rounds&) = default;
  /// The piece that it sends.
  [[nodiscard]] int sent(int member, int round, int members) const {
    return after(member, piece, next_piece, round, members);
  }

 private:
  [[nodiscard]] static int after(int member, int first, int next, int round, int members) {
    const int moved = static_cast<int>((member + std::int64_t{next} * round + first) % members);
    return moved < 0 ? moved + members : moved;
  }
};

/// What one rank brings to rounds: the same as all others. Nothing of a message matters but its
/// length, so no member looks at what it receives.
class RoundsPart {
 public:
  RoundsPart() = default;
  RoundsPart(const RoundsPart&) = delete;
  RoundsPart& operator=(const RoundsPart&) = delete;
  virtual ~RoundsPart() = default;

  [[nodiscard]] virtual std::span<const Rounds> rounds() const = 0;
  /// A piece as it travels in rounds()[at].
  [[nodiscard]] virtual Message piece(std::size_t at, int piece) const = 0;
  /// The time for which a piece keeps the member that receives it busy, if these rounds sum.
  [[nodiscard]] virtual Seconds work(std::size_t at, const Message& received) const = 0;
};

}  // namespace thinwire::inline kernel
