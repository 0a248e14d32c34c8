// Exchanges of all ranks. In a rotated one, each rank sends one message to each of the others, and
// receives one from each. In one by doubling, what a rank holds doubles in each step.
#pragma once

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline kernel {

/// What one rank sends in an exchange, and what it does with what it receives.
class ExchangePart {
 public:
  ExchangePart() = default;
  ExchangePart(const ExchangePart&) = delete;
  ExchangePart& operator=(const ExchangePart&) = delete;
  virtual ~ExchangePart() = default;

  [[nodiscard]] virtual Message outgoing(Rank to) = 0;
  /// Processes a received message. Returns the time for which this keeps the rank busy.
  [[nodiscard]] virtual Seconds incoming(Rank from, Message message) = 0;
  /// The memory that outgoing(to) will read, if any. A network may prefetch it.
  [[nodiscard]] virtual const void* read_for(Rank /*to*/) const { return nullptr; }
};

/// What one rank holds in an exchange by doubling.
class DoublingPart {
 public:
  DoublingPart() = default;
  DoublingPart(const DoublingPart&) = delete;
  DoublingPart& operator=(const DoublingPart&) = delete;
  virtual ~DoublingPart() = default;

  /// All that the rank holds.
  [[nodiscard]] virtual Message outgoing() = 0;
  /// Adds what a peer holds, which has the same number of ranks' shares. `after`: they follow those
  /// of this rank.
  virtual void incoming(Message message, bool after) = 0;
};

/// The peers of a rank in one step of a rotated exchange.
struct ExchangePeers {
  Rank to;
  Rank from;
};

/// In step s, from 0 on, a rank sends to rank + 1 + s and receives from rank - 1 - s, so that no two
/// ranks send to the same rank in one step. There are P - 1 steps.
[[nodiscard]] inline ExchangePeers peers_in_step(Rank rank, int size, int step) {
  const int to = rank.value() + 1 + step;
  const int from = rank.value() - 1 - step;
  return {.to = Rank(to < size ? to : to - size), .from = Rank(from < 0 ? from + size : from)};
}

}  // namespace thinwire::inline kernel
