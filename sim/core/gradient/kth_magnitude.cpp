#include "sim/core/gradient/kth_magnitude.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

namespace thinwire::inline gradient {

namespace {

constexpr unsigned kFirstBits = 13;  // the exponent, and five more: a table that stays in cache

std::uint32_t first_bits(const Entry& entry) {
  return (std::bit_cast<std::uint32_t>(entry.value) & 0x7fffffffU) >> (31 - kFirstBits);
}

}  // namespace

float kth_magnitude_of(std::span<const Entry> entries, std::int64_t k) {
  std::array<std::uint32_t, std::size_t{1} << kFirstBits> counts{};
  for (const Entry& entry : entries) ++counts[first_bits(entry)];
  std::int64_t larger = 0;  // entries whose first bits are larger
  std::size_t at = counts.size() - 1;
  for (; larger + counts[at] < k; --at) larger += counts[at];

  std::vector<float> alike;
  alike.reserve(counts[at]);
  for (const Entry& entry : entries) {
    if (first_bits(entry) == at) alike.push_back(std::abs(entry.value));
  }
  const auto kth = alike.begin() + (k - larger - 1);
  std::nth_element(alike.begin(), kth, alike.end(), std::greater<>());
  return *kth;
}

}  // namespace thinwire::inline gradient
