#include "sim/core/gradient/sparse_values.hpp"

#include <fmt/format.h>

#include <typeinfo>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline gradient {

struct SparseValues::ValuesBody final : Body {
  ValuesBody(SparseVector w, std::vector<float> v) : whole(std::move(w)), values(std::move(v)) {}
  SparseVector whole;         ///< empty if the values came over a wire
  std::vector<float> values;  ///< in that case
};

Payload SparseValues::of(SparseVector vector) {
  if (vector.size() == 0) return {};
  return {make_ref<const ValuesBody>(std::move(vector), std::vector<float>()), 0, 0};
}

Payload SparseValues::received(std::vector<float> values) {
  return {make_ref<const ValuesBody>(SparseVector(), std::move(values)), 0, 0};
}

bool SparseValues::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(ValuesBody);
}

std::vector<float> SparseValues::values(const Payload& payload) {
  const auto& body = static_cast<const ValuesBody&>(*payload.body);
  if (body.whole.size() == 0) return body.values;
  std::vector<float> values;
  values.reserve(body.whole.size());
  for (const Entry& entry : body.whole.entries()) values.push_back(entry.value);
  return values;
}

SparseVector SparseValues::joined(const SparseVector& coordinates, const Payload& values) {
  if (!values.body && coordinates.size() == 0) return {};
  const auto* body = holds(values) ? static_cast<const ValuesBody*>(values.body.get()) : nullptr;
  if (body != nullptr && body->whole.size() > 0) return body->whole;
  if (body == nullptr || body->values.size() != coordinates.size()) {
    throw SimulationError("{} coordinates came with the values of other coordinates",
                          coordinates.size());
  }
  auto [vector, memory] = SparseVector::unfilled(coordinates.size(), coordinates.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = {coordinates.entries()[i].coordinate, body->values[i]};
  }
  return std::move(vector);
}

}  // namespace thinwire::inline gradient
