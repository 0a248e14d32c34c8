// Direct exchange: every rank sends a separate message to every other rank.
#pragma once

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// A rank's part of a direct exchange.
class Exchange : public ExchangePart {
 public:
  /// For ExchangeOrder::halves: the message as two, and back. By default, each has half its words.
  struct Halves {
    Message first;
    Message second;
  };
  [[nodiscard]] virtual Halves halves(Message message) const;
  [[nodiscard]] virtual Message joined(Halves halves) const;
};

/// The order of the exchanges, and how many are in flight.
struct ExchangeOrder {
  /// In step s, a rank sends to rank + s and receives from rank - s (Ok-Topk, Figure 2b), so that
  /// no two ranks send to the same rank in one step. If false, all other ranks send to rank s in
  /// step s. This may cost up to P times as much, because the ranks receive one after another.
  bool rotated = true;
  /// Only if not rotated: each rank posts all messages at once, that to rank 0 first, without
  /// waiting (SparCML's published code). This costs up to 2 (P-1) (α + Lβ).
  bool all_at_once = false;
  /// The number of exchanges in flight together (bucketing, Ok-Topk section 3.1.1). Received
  /// messages are processed while other exchanges are in flight. If it is 1, the message of one
  /// exchange is processed before the next exchange begins.
  int bucket = 16;
  /// If true, the next exchange is posted as soon as the oldest one is complete. If false, as in
  /// the published code of Ok-Topk, the rank waits for all exchanges of a bucket together. See
  /// docs/decisions/0004-sliding-bucket.md.
  bool sliding = true;
  /// Whether the first bucket has one exchange fewer than the others, because it also counts the
  /// rank itself (published code).
  bool counts_itself = false;
  /// Whether each message is sent as two, since the published code sends indexes and values
  /// separately.
  bool halves = false;
};

/// Empty messages are sent too, because the receiver cannot know that they are empty.
/// Cost for messages of L words, if rotated: (P-1) (α + Lβ), plus the part of the processing time
/// (`incoming`) that does not overlap with exchanges in flight.
[[nodiscard]] Task<void> direct_exchange(Communicator& comm, Exchange& exchange,
                                         ExchangeOrder order);

}  // namespace thinwire::algorithms
