// A sparse stream (SparCML, SC 2019, section 5.1): sparse as long as that is shorter, then dense.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <variant>

#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

using Stream = std::variant<SparseVector, DenseBlock>;

/// δ of SparCML as a share of the components: isize / (c + isize), with isize = 4 bytes a value and
/// c = 4 bytes an index. Above it COO is longer than dense.
inline constexpr double kDelta = Precision{}.dense_above();

/// The δ of sums that stay sparse.
inline constexpr double kNeverDense = std::numeric_limits<double>::infinity();

/// When streams become dense, and what they take on the wire besides values and indexes.
struct StreamFormat {
  double delta = kDelta;    ///< share of the components
  std::int64_t marker = 0;  ///< words in front that say whether a stream is sparse or dense

  /// δ at a precision: at most the share above which COO is longer than dense.
  [[nodiscard]] double dense_above(const Precision& precision) const {
    return delta == kNeverDense ? delta : std::min(delta, precision.dense_above());
  }
};

/// Reconstructs the stream of a payload. A payload without a body is the empty sparse vector.
[[nodiscard]] Stream stream_from(const Payload& payload);
[[nodiscard]] Message message_of(const Stream& stream, const GradientSpace& space);

/// The sum of two streams over the components [begin, end). Two sparse ones become dense when the
/// sum of their lengths, which bounds the length of the result, exceeds `delta` (end - begin) components.
[[nodiscard]] Stream sum(const Stream& a, const Stream& b, const GradientSpace& space,
                         std::int64_t begin, std::int64_t end, double delta = kDelta);
/// The same over the whole space.
[[nodiscard]] Stream sum(const Stream& a, const Stream& b, const GradientSpace& space);

}  // namespace thinwire::inline gradient
