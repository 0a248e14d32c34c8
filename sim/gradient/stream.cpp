#include "sim/gradient/stream.hpp"

namespace thinwire {

Stream stream_from(const Payload& payload) {
  if (DenseBlock::holds(payload)) return DenseBlock::from(payload);
  return SparseVector::from(payload);
}

Message message_of(const Stream& stream, const GradientSpace& space) {
  return std::visit([&](const auto& value) { return value.message(space); }, stream);
}

Stream sum(const Stream& a, const Stream& b, const GradientSpace& space) {
  const auto* sparse_a = std::get_if<SparseVector>(&a);
  const auto* sparse_b = std::get_if<SparseVector>(&b);
  if (sparse_a == nullptr && sparse_b == nullptr) {
    return sum(std::get<DenseBlock>(a), std::get<DenseBlock>(b));
  }
  if (sparse_a == nullptr) return sum(std::get<DenseBlock>(a), *sparse_b);
  if (sparse_b == nullptr) return sum(std::get<DenseBlock>(b), *sparse_a);
  const auto entries = static_cast<std::int64_t>(sparse_a->size() + sparse_b->size());
  if (entries * space.granule <= space.dense_above()) return sum(*sparse_a, *sparse_b);
  const auto end = static_cast<std::uint32_t>(space.coordinates());
  return sum(to_dense(*sparse_a, 0, end), *sparse_b);
}

}  // namespace thinwire
