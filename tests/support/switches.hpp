// Switches that sum, as the tested networks have them.
#pragma once

#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/reducing_switches.hpp"

namespace thinwire::test {

/// The switches of the tested networks sum as fast as their links.
inline constexpr ReducingSwitches kSwitches{
    .node = ReducingSwitch{.bandwidth = 1e30, .latency = {}},
    .network = ReducingSwitch{.bandwidth = 1e30, .latency = {}}};

/// All schemes that run where switches only forward.
[[nodiscard]] inline std::vector<algorithms::SchemeInfo> schemes_without_switches() {
  std::vector<algorithms::SchemeInfo> schemes;
  for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
    if (!info.in_switches) schemes.push_back(info);
  }
  return schemes;
}

}  // namespace thinwire::test
