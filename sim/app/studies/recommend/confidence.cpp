#include "sim/app/studies/recommend/confidence.hpp"

#include <algorithm>
#include <cmath>

#include "sim/app/plan/network_info.hpp"

namespace thinwire::studies {

UsualError usual_error(const results::Row& row) {
  // Predicted rows: formulas on Leonardo, simulations of NCCL on MareNostrum 5, and of MPI on
  // Leonardo, the largest of three machines.
  if (!row.point.network->congests) return {0.50, "formulas, without the links of a platform"};
  if (row.outcome && row.outcome->machine.node > 1) return {0.15, "nodes of GPUs"};
  return {0.17, "clusters of MPI processes"};
}

bool too_close(const Candidate& one, const Candidate& other) {
  const auto communication = [](const Candidate& candidate) {
    return candidate.row.outcome->training->mean.communication.value();
  };
  return std::abs(time_of(one.row) - time_of(other.row)) <
         usual_error(one.row).share * std::max(communication(one), communication(other));
}

std::vector<std::string> too_close_to(const Candidate& advice, const Recommendation& result) {
  std::vector<std::string> names;
  for (const Candidate& candidate : result.ranked) {
    if (&candidate == &advice || !candidate.is_advisable()) continue;
    if (too_close(advice, candidate)) names.push_back(candidate.row.point.scheme->name);
  }
  return names;
}

}  // namespace thinwire::studies
