// The standard normal distribution.
#pragma once

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace thinwire::traces {

/// The cumulative distribution function at z.
[[nodiscard]] inline double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// The inverse of normal_cdf() at a share in (0, 1).
[[nodiscard]] inline double normal_quantile(double share) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * share);
}

}  // namespace thinwire::traces
