// Arithmetic with the numbers of others: sizes, sums and products that files and users give. A result
// that does not fit is empty, never wrapped around.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace thinwire::inline base {

/// The most bytes, words or components that a foreign text may give for one thing: 2^60. Sums of a
/// few of them fit into 64 bits.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 60U;

/// a + b; empty if it does not fit.
template <std::integral Whole>
[[nodiscard]] constexpr std::optional<Whole> checked_sum(Whole a, Whole b) {
  Whole result{};
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// a * b; empty if it does not fit.
template <std::integral Whole>
[[nodiscard]] constexpr std::optional<Whole> checked_product(Whole a, Whole b) {
  Whole result{};
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The sum of all; empty if a part of it does not fit.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_sum(
    std::span<const std::int64_t> values) {
  std::optional<std::int64_t> total = 0;
  for (const std::int64_t value : values) {
    total = checked_sum(*total, value);
    if (!total) break;
  }
  return total;
}

/// The whole number nearest to `value`; empty if it is none of 64 bits, or not a number.
[[nodiscard]] inline std::optional<std::int64_t> checked_round(double value) {
  constexpr double kBeyond = 0x1p63;
  const double nearest = std::round(value);
  if (!(nearest >= -kBeyond && nearest < kBeyond)) return std::nullopt;
  return static_cast<std::int64_t>(nearest);
}

/// A number of 64 bits as one of fewer; empty if it does not fit.
template <std::integral Narrow>
[[nodiscard]] constexpr std::optional<Narrow> checked_narrow(std::int64_t value) {
  const auto narrow = static_cast<Narrow>(value);
  if (static_cast<std::int64_t>(narrow) != value || (narrow < Narrow{}) != (value < 0)) {
    return std::nullopt;
  }
  return narrow;
}

}  // namespace thinwire::inline base
