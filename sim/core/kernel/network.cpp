#include "sim/core/kernel/network.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace thinwire::inline kernel {

namespace {

using Counts = std::array<std::int64_t, 4>;

/// The messages and words of a rank, by phase that has any.
std::map<std::string, Counts> counts_of(const RunReport& report, std::size_t rank) {
  std::map<std::string, Counts> counts;
  const std::vector<Traffic>& phases = report.ranks[rank].by_phase;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Traffic& traffic = phases[i];
    const Counts all{traffic.messages_sent, traffic.messages_received, traffic.words_sent.value(),
                     traffic.words_received.value()};
    if (all != Counts{}) counts[report.phases[i]] = all;
  }
  return counts;
}

}  // namespace

bool same_traffic(const RunReport& a, const RunReport& b, std::size_t rank) {
  return counts_of(a, rank) == counts_of(b, rank);
}

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
