#include "sim/app/studies/recommend/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/base/errors.hpp"
#include "sim/machine/workloads/activation_sums.hpp"
#include "sim/machine/workloads/device.hpp"

namespace thinwire::studies {

double memory_of(const results::Row& row) {
  const algorithms::SchemeInfo& scheme = *row.point.scheme;
  if (scheme.dense && !scheme.remembers) return 0;
  const auto n = static_cast<double>(row.point.space.components);
  const double kept = 4 * n * algorithms::buffers_of(row.point.workload.feedback);
  if (scheme.dense) return std::min(kept, 4 * n);
  const double share = row.outcome->selection ? static_cast<double>(row.outcome->selection->most)
                                              : static_cast<double>(row.point.k);
  return kept + 4 * row.point.space.precision.entry() * share +
         4 * static_cast<double>(
                 row.outcome->words_received.max -
                 row.outcome->phase(workloads::kTensorParallel).words_received.value());
}

std::optional<double> memory_of_device(const plan::Point& point) {
  const auto device = workloads::read_device(workloads::kDevices.file(point.workload.device));
  if (!device.memory) return std::nullopt;
  return static_cast<double>(device.memory->bytes.value());
}

void check_memory(const RecommendSettings& settings, const plan::Point& point) {
  const std::optional<double> memory = memory_of_device(point);
  const auto n = static_cast<double>(point.space.components);
  const double state = settings.state_bytes * n;
  if (!memory || state <= *memory) return;
  throw InputError(
      "{} does not fit on {}: {:.4g} components with {:.3g} bytes of weights, gradient and "
      "optimizer each take {}, and the device has {}. Ranks that divide them hold less: give "
      "--state-bytes, 4 with BF16 weights and gradients if optimizer and FP32 weights are divided "
      "among all ranks (ZeRO stage 1)",
      point.workload.model, point.workload.device, n, settings.state_bytes, gigabytes(state),
      gigabytes(*memory));
}

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

}  // namespace thinwire::studies
