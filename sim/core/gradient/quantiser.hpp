// QSGD (Alistarh et al., NIPS 2017; SparCML, section 6): few bits per value, unbiased rounding.
#pragma once

#include <cstdint>

#include "sim/core/base/random.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/space.hpp"

namespace thinwire::inline gradient {

/// The bits of a value that is not quantised.
inline constexpr std::int64_t kFullBits = 32;

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
    return Words((components * bits + 31) / 32 + (components + bucket - 1) / bucket);
  }
};

}  // namespace thinwire::inline gradient
