#include "sim/core/gradient/dense_block.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <typeinfo>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/recycled_memory.hpp"

namespace thinwire::inline gradient {

namespace {

struct DenseBody final : Body {
  DenseBody(std::uint32_t f, std::vector<float> v) : first(f), given(std::move(v)), values(given) {}
  // Memory that is about to be written need not be set to zero first.
  DenseBody(std::uint32_t f, std::size_t size, std::size_t room)
      : first(f), own(make_recycled<float>(room)), values(own.get(), size) {}
  std::uint32_t first;
  std::vector<float> given;
  RecycledArray<float> own;
  std::span<const float> values;
  std::optional<Quantisation> quantisation = {};
};

/// The body of all blocks without values, whose payloads say all that there is to say of them.
struct NoValues final : Body {};

const Ref<const Body>& no_values() {
  thread_local const Ref<const Body> body = make_ref<const NoValues>();
  return body;
}

template <class Combine>
DenseBlock combined(const DenseBlock& a, const DenseBlock& b, Combine combine) {
  if (a.is_valueless() || b.is_valueless()) return DenseBlock::valueless(a.first(), a.last());
  const auto va = a.values();
  const auto vb = b.values();
  UnfilledBlock result = DenseBlock::unfilled(a.first(), va.size(), va.size());
  std::transform(va.begin(), va.end(), vb.begin(), result.memory.begin(), combine);
  return std::move(result.block);
}

}  // namespace

DenseBlock::DenseBlock(std::uint32_t first, std::vector<float> values) {
  const auto size = static_cast<std::uint32_t>(values.size());
  payload_ = {make_ref<const DenseBody>(first, std::move(values)), first, first + size};
}

DenseBlock::DenseBlock(std::uint32_t first, std::vector<float> values, Quantisation quantisation) {
  const auto size = static_cast<std::uint32_t>(values.size());
  auto body = make_ref<DenseBody>(first, std::move(values));
  body->quantisation = std::move(quantisation);
  payload_ = {Ref<const Body>(std::move(body)), first, first + size};
}

UnfilledBlock DenseBlock::unfilled(std::uint32_t first, std::size_t size, std::size_t room) {
  auto body = make_ref<DenseBody>(first, size, room);
  const std::span memory(body->own.get(), room);
  const auto last = first + static_cast<std::uint32_t>(size);
  return {DenseBlock({Ref<const Body>(std::move(body)), first, last}), memory};
}

const Quantisation* DenseBlock::quantisation() const {
  if (!payload_.body || is_valueless()) return nullptr;
  const auto& body = static_cast<const DenseBody&>(*payload_.body);
  const bool whole = payload_.first == body.first && size() == body.values.size();
  return whole && body.quantisation ? &*body.quantisation : nullptr;
}

DenseBlock DenseBlock::valueless(std::uint32_t first, std::uint32_t last) {
  return DenseBlock({no_values(), first, last});
}

bool DenseBlock::is_valueless() const {
  const Body* body = payload_.body.get();
  return body != nullptr && typeid(*body) == typeid(NoValues);
}

bool DenseBlock::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr &&
         (typeid(*body) == typeid(DenseBody) || typeid(*body) == typeid(NoValues));
}

std::span<const float> DenseBlock::values() const {
  if (!payload_.body) return {};
  if (is_valueless()) throw SimulationError("this gradient has no values to look at");
  const auto& body = static_cast<const DenseBody&>(*payload_.body);
  return body.values.subspan(payload_.first - body.first, size());
}

DenseBlock DenseBlock::slice(std::uint32_t first, std::uint32_t last) const {
  return DenseBlock({payload_.body, first, last});
}

DenseBlock sum(const DenseBlock& a, const DenseBlock& b) { return combined(a, b, std::plus<>()); }

DenseBlock sum(std::span<const DenseBlock> blocks) {
  const DenseBlock& first = blocks.front();
  if (blocks.size() == 1) return first;
  if (std::ranges::any_of(blocks, &DenseBlock::is_valueless)) {
    return DenseBlock::valueless(first.first(), first.last());
  }
  UnfilledBlock total = DenseBlock::unfilled(first.first(), first.size(), first.size());
  std::ranges::copy(first.values(), total.memory.begin());
  for (const DenseBlock& block : blocks.subspan(1)) {
    std::ranges::transform(total.memory, block.values(), total.memory.begin(), std::plus<>());
  }
  return std::move(total.block);
}

DenseBlock difference(const DenseBlock& a, const DenseBlock& b) {
  return combined(a, b, std::minus<>());
}

DenseBlock sum(const DenseBlock& a, const SparseVector& b) {
  if (a.is_valueless() || b.is_statistical()) return DenseBlock::valueless(a.first(), a.last());
  const auto va = a.values();
  std::vector<float> values(va.begin(), va.end());
  for (const Entry& entry : b.entries()) values[entry.coordinate - a.first()] += entry.value;
  return {a.first(), std::move(values)};
}

DenseBlock concatenate(std::span<const DenseBlock> parts) {
  if (parts.size() == 1) return parts.front();
  if (std::ranges::any_of(parts, &DenseBlock::is_valueless)) {
    return DenseBlock::valueless(parts.front().first(), parts.back().last());
  }
  std::size_t size = 0;
  for (const DenseBlock& part : parts) size += part.size();
  UnfilledBlock result =
      DenseBlock::unfilled(parts.empty() ? 0 : parts.front().first(), size, size);
  auto at = result.memory.begin();
  for (const DenseBlock& part : parts) at = std::ranges::copy(part.values(), at).out;
  return std::move(result.block);
}

DenseBlock to_dense(const SparseVector& vector, std::uint32_t first, std::uint32_t last) {
  if (vector.is_statistical()) return DenseBlock::valueless(first, last);
  return sum(DenseBlock(first, std::vector<float>(last - first)), vector);
}

SparseVector entries_of(const DenseBlock& block) {
  if (block.is_valueless()) return SparseVector::from(statistical_all(block.first(), block.last()));
  std::vector<Entry> entries;
  entries.reserve(block.size());
  for (const float value : block.values()) {
    entries.push_back({block.first() + static_cast<std::uint32_t>(entries.size()), value});
  }
  return SparseVector::trusted(std::move(entries));
}

DenseBlock values_at(const SparseVector& indexes, const SparseVector& vector) {
  if (indexes.is_statistical() || vector.is_statistical()) {  // indexes may be none at all
    return DenseBlock::valueless(0, static_cast<std::uint32_t>(indexes.size()));
  }
  std::vector<float> values;
  values.reserve(indexes.size());
  const auto all = vector.entries();
  auto at = all.begin();
  for (const Entry& index : indexes.entries()) {
    while (at != all.end() && at->coordinate < index.coordinate) ++at;
    const bool found = at != all.end() && at->coordinate == index.coordinate;
    values.push_back(found ? at->value : 0.0F);
  }
  return {0, std::move(values)};
}

SparseVector placed(const SparseVector& indexes, const DenseBlock& values) {
  if (values.is_valueless()) return indexes;
  std::vector<Entry> entries;
  entries.reserve(indexes.size());
  for (const Entry& index : indexes.entries()) {
    entries.push_back({index.coordinate, values.values()[entries.size()]});
  }
  return SparseVector::trusted(std::move(entries));
}

bool equal(const DenseBlock& a, const DenseBlock& b) {
  if (a.payload() == b.payload()) return true;
  if (a.is_valueless() || b.is_valueless()) {
    return a.is_valueless() == b.is_valueless() && a.first() == b.first() && a.last() == b.last();
  }
  return std::ranges::equal(a.values(), b.values());
}

}  // namespace thinwire::inline gradient
