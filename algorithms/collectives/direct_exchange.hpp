// Direct exchange: every rank sends every other rank a message of its own.
#pragma once

#include <optional>

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// What a rank sends, and what it does with what it receives.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  Exchange(Exchange&&) = delete;
  Exchange& operator=(Exchange&&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] virtual Message outgoing(Rank to) = 0;
  /// A hint: outgoing(to) is called soon.
  virtual void expect(std::optional<Rank> /*to*/) const {}
  /// Takes a message in and says how long that keeps the rank busy.
  [[nodiscard]] virtual Seconds incoming(Rank from, Message message) = 0;
};

/// In which order ranks exchange, and how many exchanges are under way.
struct ExchangeOrder {
  /// Step s sends to rank + s and receives from rank - s (Ok-Topk, Figure 2b), so that no two ranks
  /// send to the same one at once. Without it step s is that of rank s: all others send to it.
  bool rotated = true;
  /// Not rotated, but nobody waits: all messages are posted at once, to rank 0 first (SparCML's
  /// published code). The last rank's port is behind by those of all others: up to 2 (P-1) (α +
  /// Lβ).
  bool all_at_once = false;
  /// Exchanges under way together (bucketing, Ok-Topk section 3.1.1); what has arrived is taken in
  /// meanwhile. 1: one exchange at a time, taken in before the next.
  int bucket = 16;
  /// The next exchange is posted as soon as the oldest is complete; without it, as in the published
  /// code, a bucket is waited for as a whole. See docs/decisions/0004-sliding-bucket.md.
  bool sliding = true;
  /// The first bucket has one exchange less, since it counts the rank itself (published code).
  bool counts_itself = false;
  /// Each message goes as two of half its words (indexes and values apart, published code).
  bool halves = false;
};

/// Messages may be empty and are sent all the same: the receiver cannot know.
/// Cost, rotated, for messages of L words: (P-1) (α + Lβ), and what `incoming` takes beyond what
/// the exchanges under way hide.
[[nodiscard]] Task<void> direct_exchange(Communicator& comm, Exchange& exchange,
                                         ExchangeOrder order);

}  // namespace thinwire::algorithms
