#include "sim/core/gradient/quantiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline gradient {

namespace {

/// The number of levels above 0.
float levels_of(int bits) { return static_cast<float>((1 << (bits - 1)) - 1); }

/// A value from its sign and level; sender and receiver compute the same bits.
float value_of_level(float scale, float level, float levels, bool negative) {
  return std::copysign(scale * std::min(level, levels) / levels, negative ? -1.0F : 1.0F);
}

unsigned code_of(float value, float scale, int bits) {
  const unsigned sign = std::signbit(value) ? 1U : 0U;
  if (bits == 1) return sign;
  const float level =
      scale > 0 ? std::min(std::round(std::abs(value) / scale * levels_of(bits)), levels_of(bits))
                : 0.0F;
  return sign << static_cast<unsigned>(bits - 1) | static_cast<unsigned>(level);
}

float value_of_code(unsigned code, float scale, int bits) {
  const unsigned sign = code >> static_cast<unsigned>(bits - 1);
  if (bits == 1) return std::copysign(scale, sign != 0 ? -1.0F : 1.0F);
  const unsigned level = code & ((1U << static_cast<unsigned>(bits - 1)) - 1);
  return value_of_level(scale, static_cast<float>(level), levels_of(bits), sign != 0);
}

/// The bytes of the codes of so many values.
std::size_t bytes_of_codes(std::size_t values, int bits) {
  return (values * static_cast<std::size_t>(bits) + 31) / 32 * 4;
}

}  // namespace

DenseBlock Quantiser::quantised(const DenseBlock& block, const GradientSpace& space,
                                std::uint64_t key) const {
  if (block.is_valueless()) return block;
  const auto span = block.values();
  std::vector<float> values(span.begin(), span.end());
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, bucket / space.granule));
  const float levels = levels_of(bits);
  Quantisation how{.bits = bits, .bucket = static_cast<std::int64_t>(width), .scales = {}};
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const std::size_t end = std::min(values.size(), begin + width);
    float scale = 0;
    for (std::size_t i = begin; i < end; ++i) scale = std::max(scale, std::abs(values[i]));
    how.scales.push_back(scale);
    if (scale == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      const float exact = std::abs(values[i]) / scale * levels;
      const float below = std::floor(exact);
      const auto chance = static_cast<float>(to_unit(mix(key ^ mix(block.first() + i))));
      const float level = chance < exact - below ? below + 1 : below;
      values[i] = value_of_level(scale, level, levels, std::signbit(values[i]));
    }
  }
  return {block.first(), std::move(values), std::move(how)};
}

void pack_quantised(std::span<const float> values, const Quantisation& how,
                    std::span<std::byte> bytes) {
  const auto width = static_cast<std::size_t>(how.bucket);
  std::ranges::fill(bytes, std::byte{0});
  const auto bits = static_cast<std::size_t>(how.bits);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scale = how.scales[i / width];
    const unsigned code = code_of(values[i], scale, how.bits);
    if (std::bit_cast<std::uint32_t>(value_of_code(code, scale, how.bits)) !=
        std::bit_cast<std::uint32_t>(values[i])) {
      throw SimulationError(
          fmt::format("{} is no level of {} bits with scale {}", values[i], how.bits, scale));
    }
    bytes[i * bits / 8] |= static_cast<std::byte>(code << (i * bits % 8));
  }
  const std::size_t codes = bytes_of_codes(values.size(), how.bits);
  if (!how.scales.empty()) {
    std::memcpy(bytes.data() + codes, how.scales.data(), how.scales.size() * sizeof(float));
  }
}

void unpack_quantised(std::span<const std::byte> bytes, Quantisation& how,
                      std::span<float> values) {
  const auto width = static_cast<std::size_t>(how.bucket);
  const std::size_t codes = bytes_of_codes(values.size(), how.bits);
  how.scales.resize((values.size() + width - 1) / width);
  if (!how.scales.empty()) {
    std::memcpy(how.scales.data(), bytes.data() + codes, how.scales.size() * sizeof(float));
  }
  const auto bits = static_cast<std::size_t>(how.bits);
  const unsigned mask = (1U << bits) - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i * bits / 8]);
    values[i] = value_of_code(byte >> (i * bits % 8) & mask, how.scales[i / width], how.bits);
  }
}

}  // namespace thinwire::inline gradient
