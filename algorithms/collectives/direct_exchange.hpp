// Direct exchange: every rank sends every other rank a message of its own.
#pragma once

#include <optional>

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// Supplies the messages that a rank sends, and processes those that it receives.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  Exchange(Exchange&&) = delete;
  Exchange& operator=(Exchange&&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] virtual Message outgoing(Rank to) = 0;
  /// A hint that outgoing(to) will be called soon.
  virtual void expect(std::optional<Rank> /*to*/) const {}
  /// Processes a received message and returns how long that keeps the rank busy.
  [[nodiscard]] virtual Seconds incoming(Rank from, Message message) = 0;
};

/// The order of the exchanges, and how many are in flight.
struct ExchangeOrder {
  /// Step s sends to rank + s and receives from rank - s (Ok-Topk, Figure 2b), so that no two ranks
  /// send to the same one at once. If false, in step s all other ranks send to rank s, which may
  /// cost up to P times as much: the ranks receive one after another.
  bool rotated = true;
  /// If not rotated: all messages are posted at once, to rank 0 first, without waiting (SparCML's
  /// published code): up to 2 (P-1) (α + Lβ).
  bool all_at_once = false;
  /// Exchanges in flight together (bucketing, Ok-Topk section 3.1.1); received messages are
  /// processed meanwhile. 1: one exchange at a time, processed before the next.
  int bucket = 16;
  /// The next exchange is posted as soon as the oldest is complete; if false, as in the published
  /// code, all exchanges of a bucket are awaited together. See
  /// docs/decisions/0004-sliding-bucket.md.
  bool sliding = true;
  /// The first bucket has one exchange fewer, since it counts the rank itself (published code).
  bool counts_itself = false;
  /// Each message is sent as two of half its words (indexes and values separately, published code).
  bool halves = false;
};

/// Empty messages are sent too, because the receiver cannot know that they are empty.
/// Cost, rotated, for messages of L words: (P-1) (α + Lβ), plus the part of the time of `incoming`
/// that the exchanges in flight do not hide.
[[nodiscard]] Task<void> direct_exchange(Communicator& comm, Exchange& exchange,
                                         ExchangeOrder order);

}  // namespace thinwire::algorithms
