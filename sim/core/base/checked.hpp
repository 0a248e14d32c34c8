// Arithmetic with the numbers of others: sizes, sums and products that files and users give. A result
// that does not fit is empty, never wrapped around.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

namespace thinwire::inline base {

/// The largest whole number that readers take of a foreign text, where nothing else is said: 2^60.
/// Sums of a few of them fit into 64 bits.
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

}  // namespace thinwire::inline base
