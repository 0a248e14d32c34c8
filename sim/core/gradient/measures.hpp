// What a device finds out about a whole accumulator: counts, moments, excesses, samples.
// Coordinates that a vector does not hold are 0; all counts are of components.
#pragma once

#include <cstdint>

#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

/// Carried entries whose magnitude is at least `threshold`.
[[nodiscard]] std::int64_t count_at_least(const SparseVector& vector, float threshold);

/// Mean and standard deviation of all components, zeros among them.
struct Moments {
  double mean = 0;
  double deviation = 0;
};
[[nodiscard]] Moments moments_of(const SparseVector& vector, const GradientSpace& space);

/// What exceeds a threshold.
struct Exceedances {
  double components = 0;
  double excess = 0;  ///< summed over them
};
[[nodiscard]] Exceedances exceedances_of(const SparseVector& vector, double threshold,
                                         const GradientSpace& space);

/// The k-th largest magnitude of a sample in which each entry is with `probability`.
[[nodiscard]] float sampled_kth_magnitude(const SparseVector& vector, double probability,
                                          std::int64_t k, std::uint64_t key);

/// The least magnitude above 0; 0 where there is none.
[[nodiscard]] float least_magnitude(const SparseVector& vector);

}  // namespace thinwire::inline gradient
