// Switches of a platform that sum what passes through them: NVLink SHARP, InfiniBand SHARP.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/base/units.hpp"

namespace thinwire::inline base {

/// Where such a switch is.
enum class ReducingLevel : std::uint8_t {
  node,    ///< between the ranks of a node, as NVSwitch
  network  ///< between nodes: a tree of switches
};

/// How fast a switch sums.
struct ReducingSwitch {
  double bandwidth = 0;  ///< bytes a second of each port, each way
  Seconds latency;       ///< in addition to the latency of the links

  friend bool operator==(const ReducingSwitch&, const ReducingSwitch&) = default;
};

/// What the switches of a platform sum; nothing where they only forward.
struct ReducingSwitches {
  std::optional<ReducingSwitch> node = {};
  std::optional<ReducingSwitch> network = {};

  [[nodiscard]] const std::optional<ReducingSwitch>& at(ReducingLevel level) const {
    return level == ReducingLevel::node ? node : network;
  }
  [[nodiscard]] bool any() const { return node || network; }

  friend bool operator==(const ReducingSwitches&, const ReducingSwitches&) = default;
};

}  // namespace thinwire::inline base
