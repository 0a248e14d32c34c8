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
  /// step s, which posts its receives with that step (Figure 2a).
  bool rotated = true;
  /// The number of steps in flight together (bucketing, Ok-Topk section 3.1.1): the sends and
  /// receives of all of them are posted without waiting. Received messages are processed while other
  /// steps are in flight. If it is 1, sends block, and the messages of one step are processed before
  /// the next step begins. With P or more, all messages are posted at once.
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
/// Cost for messages of L words, plus the part of the processing time (`incoming`) that does not
/// overlap with steps in flight: (P-1) (α + Lβ) if rotated. If not, the ranks of a bucket receive at
/// once from all others, and one bucket after another: ceil(P/bucket) (P-1) (α + Lβ).
[[nodiscard]] Task<void> direct_exchange(Communicator& comm, Exchange& exchange,
                                         ExchangeOrder order);

}  // namespace thinwire::algorithms
