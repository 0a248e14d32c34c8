// Numerical methods that fits share, and the digits that a fit has.
#pragma once

#include <functional>

namespace thinwire::traces {

/// Where `function`, which has one minimum between `low` and `high`, is least.
[[nodiscard]] double least(const std::function<double(double)>& function, double low, double high);
/// Where `function`, which rises or falls from `low` to `high`, is `wanted`; the nearer end where
/// it is that nowhere between them.
[[nodiscard]] double solved(const std::function<double(double)>& function, double wanted,
                            double low, double high);
/// `value` in as many digits as a fit has.
[[nodiscard]] double rounded(double value);

}  // namespace thinwire::traces
