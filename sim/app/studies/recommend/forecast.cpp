#include "sim/app/studies/recommend/forecast.hpp"

#include <algorithm>

#include "algorithms/scheme.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

double Forecast::wall_s() const {
  double all = 0;
  double longest = 0;
  for (const ForecastCandidate& candidate : candidates) {
    all += candidate.wall_s;
    longest = std::max(longest, candidate.wall_s);
  }
  return std::max(longest, all / jobs);
}

namespace {

workloads::ComputeTimes compute_times_of(const plan::Point& point) {
  const int tensor = point.parallel.tensor;
  const workloads::Model model = workloads::divided(
      workloads::read_model(workloads::kModels.file(point.workload.model)), tensor);
  return workloads::compute_times(
      model, workloads::read_device(workloads::kDevices.file(point.workload.device)).name,
      point.workload.batch, tensor);
}

}  // namespace

double time_before_sums(const plan::Point& point) {
  const workloads::ComputeTimes compute = compute_times_of(point);
  // Buckets are summed during the backward pass.
  const bool overlaps = algorithms::has_option(point.scheme->options, "bucket_words");
  return (overlaps ? compute.forward : compute.forward + compute.backward).value();
}

double formula_time(const plan::Point& point, const plan::Machine& machine) {
  results::Row row;
  row.point = point;
  row.point.machine = machine;
  const results::Comparison formula = results::compare(row, 0);
  const workloads::ComputeTimes compute = compute_times_of(point);
  return (compute.forward + compute.backward).value() +
         (formula.formula_low + formula.formula_high) / 2 / point.workload.local_steps;
}

}  // namespace thinwire::studies
