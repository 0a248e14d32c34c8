// QSGD (Alistarh et al., NIPS 2017; SparCML, section 6): few bits per value, unbiased rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/core/base/random.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/space.hpp"

namespace thinwire::inline gradient {

/// The bits of a value that is not quantised.
inline constexpr std::int64_t kFullBits = 32;

/// The words of so many quantised values and their scales.
[[nodiscard]] constexpr std::int64_t quantised_words(std::int64_t values, int bits,
                                                     std::int64_t bucket) {
  return (values * bits + 31) / 32 + (values + bucket - 1) / bucket;
}

/// Each bucket of consecutive components has a scale of one word, its largest magnitude M; a value
/// is a sign and one of the levels 0, M/s, 2M/s ... M with s = 2^(bits-1) - 1, so 2 bits encode -M,
/// 0 and M. A value is rounded to one of the two nearest levels at random with probabilities that
/// keep its mean: it moves by less than M/s.
struct Quantiser {
  int bits = 8;                ///< 2, 4 or 8
  std::int64_t bucket = 1024;  ///< components

  /// The values after quantisation and transfer. A pure function of its arguments.
  [[nodiscard]] DenseBlock quantised(const DenseBlock& block, const GradientSpace& space,
                                     std::uint64_t key) const;
  /// The length on the wire of the given number of components.
  [[nodiscard]] Words words(std::int64_t components) const {
    return Words(quantised_words(components, bits, bucket));
  }
};

/// The bytes of quantised values, as they travel: the codes, one after another from the lowest bit
/// of the first byte on, rounded up to words, and then the scales. A code has the sign as its
/// highest bit and the level below. With 1 bit (signSGD) there are no levels, and a value is plus or
/// minus the scale. `bytes` has quantised_words() words. Throws SimulationError if a value is none
/// of the levels.
void pack_quantised(std::span<const float> values, const Quantisation& how,
                    std::span<std::byte> bytes);
/// The inverse: fills `values` and the scales of `how`.
void unpack_quantised(std::span<const std::byte> bytes, Quantisation& how, std::span<float> values);

}  // namespace thinwire::inline gradient
