// Writes a trace file whose selections are drawn from a profile instead of recorded in a training.
#pragma once

#include <cstdint>
#include <string>

#include "traces/profile.hpp"

namespace thinwire::traces {

struct DrawnTraceSettings {
  PopularityFamily family = PopularityFamily::copula;
  std::int64_t components = 0;  ///< layers and regions are scaled to fill them
  int ranks = 16;
  double density = 0;
  int iterations = 32;
  std::uint64_t seed = 1;
  /// Begins with iteration 1 of a training; otherwise with the first one with a settled threshold.
  bool start_up = false;
};

/// Writes each rank's exact top-k, with the profile's thresholds and bursts. Throws InputError when
/// the settings cannot be met.
void write_drawn_trace(const Profile& profile, const DrawnTraceSettings& settings,
                       const std::string& path);

}  // namespace thinwire::traces
