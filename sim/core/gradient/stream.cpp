#include "sim/core/gradient/stream.hpp"

namespace thinwire::inline gradient {

Stream stream_from(const Payload& payload) {
  if (DenseBlock::holds(payload)) return DenseBlock::from(payload);
  return SparseVector::from(payload);
}

Message message_of(const Stream& stream, const GradientSpace& space) {
  return std::visit([&](const auto& value) { return value.message(space); }, stream);
}

Stream sum(const Stream& a, const Stream& b, const GradientSpace& space, std::int64_t begin,
           std::int64_t end, double delta) {
  const auto* sparse_a = std::get_if<SparseVector>(&a);
  const auto* sparse_b = std::get_if<SparseVector>(&b);
  if (sparse_a == nullptr && sparse_b == nullptr) {
    return sum(std::get<DenseBlock>(a), std::get<DenseBlock>(b));
  }
  if (sparse_a == nullptr) return sum(std::get<DenseBlock>(a), *sparse_b);
  if (sparse_b == nullptr) return sum(std::get<DenseBlock>(b), *sparse_a);
  const auto entries = static_cast<std::int64_t>(sparse_a->size() + sparse_b->size());
  const std::uint32_t first = space.coordinate(begin);
  const std::uint32_t last = space.coordinate(end);
  if (static_cast<double>(entries * space.granule) > delta * static_cast<double>(end - begin)) {
    return sum(to_dense(*sparse_a, first, last), *sparse_b);
  }
  return sum_within(*sparse_a, *sparse_b, first, last);
}

Stream sum(const Stream& a, const Stream& b, const GradientSpace& space) {
  return sum(a, b, space, 0, space.components);
}

}  // namespace thinwire::inline gradient
