#include "sim/gradient/dense_block.hpp"

#include <algorithm>
#include <functional>
#include <typeinfo>

namespace thinwire {

namespace {

struct DenseBody final : Body {
  DenseBody(std::uint32_t f, std::vector<float> v) : first(f), values(std::move(v)) {}
  std::uint32_t first;
  std::vector<float> values;
};

template <class Combine>
DenseBlock combined(const DenseBlock& a, const DenseBlock& b, Combine combine) {
  const auto va = a.values();
  const auto vb = b.values();
  std::vector<float> values(va.size());
  std::transform(va.begin(), va.end(), vb.begin(), values.begin(), combine);
  return {a.first(), std::move(values)};
}

}  // namespace

DenseBlock::DenseBlock(std::uint32_t first, std::vector<float> values) {
  const auto size = static_cast<std::uint32_t>(values.size());
  payload_ = {make_ref<const DenseBody>(first, std::move(values)), first, first + size};
}

bool DenseBlock::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(DenseBody);
}

std::span<const float> DenseBlock::values() const {
  if (!payload_.body) return {};
  const auto& body = static_cast<const DenseBody&>(*payload_.body);
  return std::span(body.values).subspan(payload_.first - body.first, size());
}

DenseBlock DenseBlock::slice(std::uint32_t first, std::uint32_t last) const {
  return DenseBlock({payload_.body, first, last});
}

DenseBlock sum(const DenseBlock& a, const DenseBlock& b) { return combined(a, b, std::plus<>()); }

DenseBlock difference(const DenseBlock& a, const DenseBlock& b) {
  return combined(a, b, std::minus<>());
}

DenseBlock sum(const DenseBlock& a, const SparseVector& b) {
  const auto va = a.values();
  std::vector<float> values(va.begin(), va.end());
  for (const Entry& entry : b.entries()) values[entry.coordinate - a.first()] += entry.value;
  return {a.first(), std::move(values)};
}

DenseBlock concatenate(std::span<const DenseBlock> parts) {
  if (parts.size() == 1) return parts.front();
  std::vector<float> values;
  values.reserve(parts.empty() ? 0 : parts.back().last() - parts.front().first());
  for (const DenseBlock& part : parts) {
    const auto v = part.values();
    values.insert(values.end(), v.begin(), v.end());
  }
  return {parts.empty() ? 0 : parts.front().first(), std::move(values)};
}

DenseBlock to_dense(const SparseVector& vector, std::uint32_t first, std::uint32_t last) {
  return sum(DenseBlock(first, std::vector<float>(last - first)), vector);
}

}  // namespace thinwire
