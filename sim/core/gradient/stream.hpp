// A sparse stream (SparCML, SC 2019, section 5.1): sparse as long as that is shorter, then dense.
#pragma once

#include <variant>

#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

using Stream = std::variant<SparseVector, DenseBlock>;

/// Reconstructs the stream of a payload. A payload without a body is the empty sparse vector.
[[nodiscard]] Stream stream_from(const Payload& payload);
[[nodiscard]] Message message_of(const Stream& stream, const GradientSpace& space);

/// The sum of two streams over the components [begin, end). Two sparse ones become dense when the
/// sum of their lengths, which bounds that of the result, exceeds δ = (end - begin)/2 components.
[[nodiscard]] Stream sum(const Stream& a, const Stream& b, const GradientSpace& space,
                         std::int64_t begin, std::int64_t end);
/// The same over the whole space.
[[nodiscard]] Stream sum(const Stream& a, const Stream& b, const GradientSpace& space);

}  // namespace thinwire::inline gradient
