#include "sim/core/gradient/quantiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline gradient {

namespace {

/// The number of levels above 0.
float levels_of(int bits) { return static_cast<float>((1 << (bits - 1)) - 1); }

/// A value from its level and a number of its sign; sender and receiver compute the same bits.
float value_of_level(float scale, float level, float levels, float sign) {
  return std::copysign(scale * std::min(level, levels) / levels, sign);
}

/// The greatest whole number up to a value of at least 0 and below 2^22, and no call of a library.
float whole_of(float value) {
  constexpr float kWhole = 1U << 23U;  // floats from here on have no fraction
  const float nearest = value + kWhole - kWhole;
  return nearest - static_cast<float>(nearest > value);
}

/// What a message of some bits needs to know of a bucket.
template <unsigned kBits>
class Codes {
 public:
  explicit Codes(float scale) : scale_(scale) {
    constexpr unsigned kSign = 1U << (kBits - 1);
    for (unsigned code = 0; code < values_.size(); ++code) {
      const float sign = (code & kSign) != 0 ? -1.0F : 1.0F;
      values_[code] =
          kBits == 1 ? std::copysign(scale, sign)
                     : value_of_level(scale, static_cast<float>(code & (kSign - 1)), kLevels, sign);
    }
  }

  [[nodiscard]] float value(unsigned code) const { return values_[code]; }
  /// The code of a value that has one.
  [[nodiscard]] unsigned code(float value) const {
    const unsigned sign = std::signbit(value) ? 1U : 0U;
    if constexpr (kBits == 1) return sign;
    const float level = scale_ > 0 ? std::abs(value) / scale_ * kLevels + 0.5F : 0.0F;
    // A value that is not a number is none of the levels either.
    return sign << (kBits - 1) | static_cast<unsigned>(level < kLevels ? level : kLevels);
  }

 private:
  static constexpr float kLevels = static_cast<float>((1U << (kBits - 1)) - 1);

  float scale_;
  std::array<float, std::size_t{1} << kBits> values_{};
};

template <unsigned kBits>
void pack(std::span<const float> values, const Quantisation& how, std::span<std::byte> bytes) {
  const auto width = static_cast<std::size_t>(how.bucket);
  unsigned byte = 0;
  unsigned filled = 0;  // bits of `byte`
  auto next = bytes.begin();
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const float scale = how.scales[begin / width];
    const Codes<kBits> codes(scale);
    for (const float value : values.subspan(begin, std::min(width, values.size() - begin))) {
      const unsigned code = codes.code(value);
      if (std::bit_cast<std::uint32_t>(codes.value(code)) != std::bit_cast<std::uint32_t>(value)) {
        throw SimulationError("{} is no level of {} bits with scale {}", value, how.bits, scale);
      }
      byte |= code << filled;
      filled += kBits;
      if (filled == 8) {
        *next++ = static_cast<std::byte>(byte);
        byte = filled = 0;
      }
    }
  }
  if (filled > 0) *next++ = static_cast<std::byte>(byte);
  std::fill(next, bytes.end(), std::byte{0});
}

template <unsigned kBits>
void unpack(std::span<const std::byte> bytes, const Quantisation& how, std::span<float> values) {
  const auto width = static_cast<std::size_t>(how.bucket);
  constexpr unsigned kMask = (1U << kBits) - 1;
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const Codes<kBits> codes(how.scales[begin / width]);
    const std::size_t end = std::min(begin + width, values.size());
    for (std::size_t i = begin; i < end; ++i) {
      const auto byte = std::to_integer<unsigned>(bytes[i * kBits / 8]);
      values[i] = codes.value(byte >> (i * kBits % 8) & kMask);
    }
  }
}

/// Calls `visit` with the number of bits as a constant of the type, so that shifts and masks are
/// constants of its loops.
template <class Visit>
void with_bits(int bits, Visit visit) {
  switch (bits) {
    case 1:
      return visit(std::integral_constant<unsigned, 1>());
    case 2:
      return visit(std::integral_constant<unsigned, 2>());
    case 4:
      return visit(std::integral_constant<unsigned, 4>());
    case 8:
      return visit(std::integral_constant<unsigned, 8>());
    default:
      throw SimulationError("values of {} bits have no codes", bits);
  }
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
      const float below = whole_of(exact);
      const auto chance = static_cast<float>(to_unit(mix(key ^ mix(block.first() + i))));
      const float level = below + static_cast<float>(chance < exact - below);
      values[i] = value_of_level(scale, level, levels, values[i]);
    }
  }
  return {block.first(), std::move(values), std::move(how)};
}

void pack_quantised(std::span<const float> values, const Quantisation& how,
                    std::span<std::byte> bytes) {
  const std::size_t codes = bytes_of_codes(values.size(), how.bits);
  with_bits(how.bits, [&](auto bits) { pack<bits()>(values, how, bytes.first(codes)); });
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
  with_bits(how.bits, [&](auto bits) { unpack<bits()>(bytes, how, values); });
}

}  // namespace thinwire::inline gradient
