// Payloads of the statistical model: from statistics to payloads and back. For the sources of that
// model; others see SparseVector and statistical.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "sim/core/gradient/sparse_body.hpp"
#include "sim/core/gradient/statistical.hpp"

namespace thinwire::inline gradient {

/// What a statistical body holds. Its operations are in statistical.cpp.
class StatisticalData : public SparseBody {
 public:
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 protected:
  explicit StatisticalData(Statistics statistics)
      : SparseBody(true), statistics_(std::move(statistics)) {}

 private:
  Statistics statistics_;
};

[[noreturn]] void throw_not_statistical();

/// The statistics of a payload's body, of which the payload may be a slice. Throws SimulationError
/// if the gradient is an exact one, which has none.
[[nodiscard]] inline const Statistics& statistics_of(const Payload& payload) {
  const auto& body = static_cast<const SparseBody&>(*payload.body);
  if (!body.is_statistical()) throw_not_statistical();
  return static_cast<const StatisticalData&>(body).statistics();
}
[[nodiscard]] inline std::uint32_t entry_count(const Payload& payload) {
  return payload.last - payload.first;
}
/// The range in which the entries of a payload lie; for a slice, from its first entry to its end.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> entry_range(const Payload& payload);
/// The statistics of the payload alone.
[[nodiscard]] Statistics own_statistics(const Payload& payload);
/// The payload of a new body; without a body if it has no entries.
[[nodiscard]] Payload statistical_payload(Statistics statistics);

/// Vectors whose ranges follow one another.
[[nodiscard]] Payload statistical_concatenation(std::span<const Payload> parts);
/// Vectors in the same range are united, those in disjoint ranges concatenated.
[[nodiscard]] Payload statistical_sum(std::span<const Payload> vectors);

}  // namespace thinwire::inline gradient
