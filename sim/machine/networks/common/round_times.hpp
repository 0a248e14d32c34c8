// The times of rounds in which each member of a group sends one message and receives one. No message
// shares a port, so the next times of all members follow from their times now: each message begins
// when both its ranks have posted it, and each member goes on when both its messages have ended.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/kernel/rounds.hpp"

namespace thinwire::networks {

/// What a message takes besides its time on the ports, in seconds (host.hpp).
struct RoundCosts {
  double overhead = 0;  ///< of its sender, and again of its receiver
  double latency = 0;
  bool handshake = false;
  double handshake_time = 0;

  [[nodiscard]] bool none() const {
    return overhead == 0 && latency == 0 && !handshake && handshake_time == 0;
  }
};

/// The clocks of all members.
class RoundTimes {
 public:
  RoundTimes(std::vector<double> clocks, RoundCosts costs)
      : clocks_(std::move(clocks)), ends_(clocks_.size()), costs_(costs) {}

  /// Takes a round. `on_ports` is how long the message of each member keeps its ports busy. `work`, if
  /// it is not empty, is how long it then keeps its receiver busy.
  void take(const Rounds& rounds, int round, std::span<const double> on_ports,
            std::span<const double> work);
  [[nodiscard]] const std::vector<double>& clocks() const { return clocks_; }

 private:
  std::vector<double> clocks_;
  std::vector<double> ends_;  ///< of the messages of this round, by sender
  RoundCosts costs_;
};

}  // namespace thinwire::networks
