#include "sim/app/run/tasks.hpp"

namespace thinwire::run {

namespace {

/// The iterations of a point in their order. The last one is reported.
std::vector<PlannedIteration> iterations_of(const plan::Point& point) {
  std::vector<PlannedIteration> all;
  for (int i = 1; i <= point.iterations; ++i) all.push_back({{i, 1.0 / point.iterations, false}});
  if (!all.empty()) return all;
  const algorithms::SchemeInfo& info = *point.scheme;
  for (const auto& which : workloads::kinds_of_iterations(info, {info.options, point.options})) {
    all.push_back({which});
  }
  return all;
}

}  // namespace

std::vector<workloads::WeightedIteration> kinds_of(const plan::Point& point) {
  const bool has_clock = point.network->has_clock;
  if (!point.workload.model.empty() || point.error_feedback || !has_clock) return {};
  const algorithms::SchemeInfo& info = *point.scheme;
  return workloads::kinds_from_run(info, {info.options, point.options}, point.iterations);
}

Part part_of(const plan::Point& point, bool kinds) {
  Part part{.point = point, .iterations = iterations_of(point)};
  part.reported = part.iterations.size() - 1;
  if (!kinds) return part;
  for (const workloads::WeightedIteration& which : kinds_of(point)) {
    if (which.iteration > point.iterations) part.iterations.push_back({which, true});
  }
  return part;
}

Tasks tasks_of(const plan::Point& point, const plan::Machine& machine, const Wanted& wanted) {
  Tasks tasks;
  tasks.extrapolation = extrapolation_of(point, machine);
  if (tasks.extrapolation) {
    for (const ShorterPoint& one : tasks.extrapolation->points) {
      tasks.parts.push_back(part_of(one.point, wanted.kinds));
    }
  } else {
    tasks.parts.push_back(part_of(point, wanted.kinds));
  }
  // The α-β machine has one α and one β, which do not describe tensor-parallel groups too.
  const bool companion = wanted.companion && point.network->congests && !point.sums_activations();
  // If there are several parts, the last one is the longest.
  for (std::size_t at = tasks.parts.size(); at-- > 0;) {
    const Part& part = tasks.parts[at];
    const std::size_t all = part.iterations.size();
    const std::size_t count = wanted.one_by_one ? 1 : all;
    for (std::size_t first = 0; first < all; first += count) {
      tasks.list.push_back({.part = at, .first = first, .count = count});
      if (companion && first + count > part.reported && first <= part.reported) {
        tasks.list.push_back({Purpose::companion, at, part.reported});
      }
    }
  }
  return tasks;
}

}  // namespace thinwire::run
