// Factors that turn a platform into another one, for questions such as "with twice the bandwidth?".
#pragma once

namespace thinwire::topologies {

/// Another platform of the same shape: all its latencies and message gaps, and all its bandwidths,
/// times a factor above 0.
struct PlatformFactors {
  double latency = 1;
  double bandwidth = 1;

  friend bool operator==(const PlatformFactors&, const PlatformFactors&) = default;
};

}  // namespace thinwire::topologies
