#include "sim/app/studies/recommend/confidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "sim/app/plan/network_info.hpp"

namespace thinwire::studies {

namespace {

/// The median error of predicted allreduces on a measured machine.
struct ErrorOfMachine {
  bool gpu;
  std::string_view predictor;
  int rows;
  double median;
};

constexpr auto kErrors = std::to_array<ErrorOfMachine>({
#include "sim/app/studies/recommend/errors_of_machines.inc"
});

/// The median of the machines that `counts` names, each as often as it has rows.
template <class Counts>
double median_error(const Counts& counts) {
  std::vector<ErrorOfMachine> machines;
  std::ranges::copy_if(kErrors, std::back_inserter(machines), counts);
  std::ranges::sort(machines, {}, &ErrorOfMachine::median);
  int left = 0;
  for (const ErrorOfMachine& machine : machines) left += machine.rows;
  left = (left + 1) / 2;
  for (const ErrorOfMachine& machine : machines) {
    if ((left -= machine.rows) <= 0) return machine.median;
  }
  return 0;
}

}  // namespace

UsualError usual_error(const results::Row& row) {
  if (!row.point.network->congests) {
    return {median_error([](const ErrorOfMachine& one) { return one.predictor != "simulation"; }),
            "formulas, without the links of a platform"};
  }
  const bool gpu = row.outcome && row.outcome->machine.node > 1;
  return {median_error([&](const ErrorOfMachine& one) {
            return one.predictor == "simulation" && one.gpu == gpu;
          }),
          gpu ? "nodes of GPUs" : "clusters of MPI processes"};
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
