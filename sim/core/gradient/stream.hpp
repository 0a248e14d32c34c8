// A sparse stream (SparCML, SC 2019, section 5.1): sparse as long as that is shorter, else dense.
#pragma once

#include <variant>

#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

using Stream = std::variant<SparseVector, DenseBlock>;

/// Reads back which of the two a payload is. No payload at all is the empty sparse vector.
[[nodiscard]] Stream stream_from(const Payload& payload);
[[nodiscard]] Message message_of(const Stream& stream, const GradientSpace& space);

/// The sum of two streams of the components [begin, end). Two sparse ones become dense when the
/// lengths of both together, which bound that of the sum without looking for overlap, exceed
/// δ = (end - begin)/2 components.
[[nodiscard]] Stream sum(const Stream& a, const Stream& b, const GradientSpace& space,
                         std::int64_t begin, std::int64_t end);
/// The same over the whole space.
[[nodiscard]] Stream sum(const Stream& a, const Stream& b, const GradientSpace& space);

}  // namespace thinwire::inline gradient
