// Numerical methods that fits share, and the rounding of fitted values.
#pragma once

#include <functional>

namespace thinwire::traces {

/// The minimum of `function`, which has only one between `low` and `high`.
[[nodiscard]] double least(const std::function<double(double)>& function, double low, double high);
/// The argument at which `function`, monotonic between `low` and `high`, equals `wanted`; the
/// nearer end if there is none.
[[nodiscard]] double solved(const std::function<double(double)>& function, double wanted,
                            double low, double high);
/// `value` rounded to the significant digits of a fit.
[[nodiscard]] double rounded(double value);

}  // namespace thinwire::traces
