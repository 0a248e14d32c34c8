#include "traces/powers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace thinwire::traces {

namespace {

/// The logarithm to base 2 of a positive normal number, with an error below 1e-10. Without branches.
[[gnu::always_inline]] inline double logarithm(double number) {
  constexpr std::uint64_t kMantissa = 0x000fffffffffffffU;
  constexpr std::uint64_t kOne = 0x3ff0000000000000U;
  constexpr std::uint64_t kWhole = 0x4330000000000000U;  // 2^52, whose last bits are a whole number
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const double exponent = std::bit_cast<double>(kWhole | (bits >> 52U)) - (0x1p52 + 1023);
  const auto mantissa = std::bit_cast<double>((bits & kMantissa) | kOne);
  const bool large = mantissa > std::numbers::sqrt2;
  const double near_one = large ? 0.5 * mantissa : mantissa;
  // ln x = 2 artanh s, where x = (1 + s) / (1 - s), and s is below 0.172.
  const double s = (near_one - 1) / (near_one + 1);
  const double square = s * s;
  double sum = 1.0 / 13;
#pragma GCC unroll 6
  for (int odd = 11; odd > 0; odd -= 2) sum = sum * square + 1.0 / odd;
  return exponent + (large ? 1.0 : 0.0) + 2 * std::numbers::log2e * s * sum;
}

/// 2 to a power that is far from those of which a float is infinite or 0, with a relative error below
/// 1e-10. Without branches.
[[gnu::always_inline]] inline double power_of_two(double exponent) {
  constexpr double kWhole = 0x1.8p52;  // a sum with it is rounded to a whole number
  const double shifted = exponent + kWhole;
  const double x = (exponent - (shifted - kWhole)) * std::numbers::ln2;
  double sum = 1;
#pragma GCC unroll 9
  for (int n = 9; n > 0; --n) sum = 1 + x * (1.0 / n) * sum;
  const std::uint64_t scale = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U;
  return sum * std::bit_cast<double>(scale);
}

constexpr std::size_t kInBatch = 64;
using Batch = std::array<double, kInBatch>;

[[gnu::always_inline]] inline void raise(Batch& batch, double exponent) {
  for (double& number : batch) number = power_of_two(exponent * logarithm(number));
}

#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void raise_by_fours(Batch& batch, double exponent) {
  raise(batch, exponent);
}
#endif

void raise_batch(Batch& batch, double exponent) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    raise_by_fours(batch, exponent);
    return;
  }
#endif
  raise(batch, exponent);
}

/// Whether a number is so near the middle between two floats that an error could round it to either.
bool is_near_middle(double number) {
  constexpr std::uint64_t kBeyondFloat = (std::uint64_t{1} << 29U) - 1;
  constexpr std::int64_t kMiddle = std::int64_t{1} << 28U;
  const auto beyond =
      static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(number) & kBeyondFloat);
  return std::abs(beyond - kMiddle) < kMiddle / 64;
}

}  // namespace

void raise_each(std::span<float> numbers, float exponent) {
  constexpr float kMost = 4;  // with 24 bits, a power is then far from infinity and 0
  if (!(std::abs(exponent) <= kMost)) {
    for (float& number : numbers) number = std::pow(number, exponent);
    return;
  }
  Batch batch;
  batch.fill(0.5);
  for (std::size_t begin = 0; begin < numbers.size(); begin += kInBatch) {
    const std::span<float> here =
        numbers.subspan(begin, std::min(kInBatch, numbers.size() - begin));
    std::ranges::copy(here, batch.begin());
    raise_batch(batch, exponent);
    for (std::size_t i = 0; i < here.size(); ++i) {
      here[i] =
          is_near_middle(batch[i]) ? std::pow(here[i], exponent) : static_cast<float>(batch[i]);
    }
  }
}

}  // namespace thinwire::traces
