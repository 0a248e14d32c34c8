#include "sim/core/kernel/network.hpp"

#include <algorithm>

namespace thinwire::inline kernel {

Traffic RankReport::total() const {
  Traffic sum;
  for (const Traffic& phase : by_phase) sum += phase;
  return sum;
}

Seconds RunReport::makespan() const {
  Seconds last;
  for (const RankReport& rank : ranks) last = std::max(last, rank.finished);
  return last;
}

std::int64_t RunReport::steps() const {
  std::int64_t most = 0;
  for (const RankReport& rank : ranks) most = std::max(most, rank.steps);
  return most;
}

}  // namespace thinwire::inline kernel
