// Quantiles of a few numbers or times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace thinwire::inline base {

/// The value below which the share `q` of the values lies, 0 <= q <= 1; linear between two values.
/// There must be a value.
template <class Value = double>
[[nodiscard]] Value quantile(std::vector<Value> values, double q) {
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

}  // namespace thinwire::inline base
