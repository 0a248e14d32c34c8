// A message with other ranks in it, for networks on which some ranks stand for others.
#pragma once

#include <cstdint>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline kernel {

/// A one-to-one map of ranks that a symmetric schedule allows: all are shifted around the ring of P
/// ranks, or the same bits of all are flipped.
struct Renaming {
  enum class Kind : std::uint8_t { shift, flip };

  Kind kind = Kind::shift;
  std::int32_t by = 0;     ///< added, or the bits to flip
  std::int32_t ranks = 1;  ///< P

  [[nodiscard]] bool changes_nothing() const { return by == 0; }
  /// Whether this renaming and then `next` are one.
  [[nodiscard]] bool joins(Renaming next) const { return kind == next.kind && ranks == next.ranks; }
  /// That one.
  [[nodiscard]] Renaming then(Renaming next) const {
    next.by = kind == Kind::flip ? by ^ next.by
                                 : static_cast<std::int32_t>((std::int64_t{by} + next.by) % ranks);
    return next;
  }
  [[nodiscard]] Rank of(Rank rank) const {
    if (kind == Kind::flip) return Rank(rank.value() ^ by);
    return Rank(static_cast<std::int32_t>((std::int64_t{rank.value()} + by) % ranks));
  }
};

/// Renames the ranks in messages. A network does not look into payloads.
class Renamer {
 public:
  Renamer() = default;
  Renamer(const Renamer&) = delete;
  Renamer& operator=(const Renamer&) = delete;
  virtual ~Renamer() = default;

  [[nodiscard]] virtual Message renamed(Message message, Renaming renaming) const = 0;
};

}  // namespace thinwire::inline kernel
