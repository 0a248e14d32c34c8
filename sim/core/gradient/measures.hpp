// Statistics that a device computes over a whole accumulator: counts, moments, excesses, samples.
// Coordinates that a vector does not hold are 0; counts are of components unless stated otherwise.
#pragma once

#include <cstdint>

#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

/// The number of carried entries whose magnitude is at least `threshold`.
[[nodiscard]] std::int64_t count_at_least(const SparseVector& vector, float threshold);

/// Mean and standard deviation over all components, including zeros.
struct Moments {
  double mean = 0;
  double deviation = 0;
};
[[nodiscard]] Moments moments_of(const SparseVector& vector, const GradientSpace& space);

/// The components whose magnitude exceeds a threshold.
struct Exceedances {
  double components = 0;
  double excess = 0;  ///< sum over them of magnitude - threshold
};
[[nodiscard]] Exceedances exceedances_of(const SparseVector& vector, double threshold,
                                         const GradientSpace& space);

/// The k-th largest magnitude of a random sample that contains each entry with `probability`.
[[nodiscard]] float sampled_kth_magnitude(const SparseVector& vector, double probability,
                                          std::int64_t k, std::uint64_t key);

/// The smallest magnitude above 0; 0 if there is none.
[[nodiscard]] float least_magnitude(const SparseVector& vector);

}  // namespace thinwire::inline gradient
