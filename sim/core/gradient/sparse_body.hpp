// The data of a sparse vector: a body of the exact model (sparse_vector.cpp) or of the statistical
// one (statistical.hpp), which implements the operations on sparse vectors in its model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

class SparseVector;

/// The operations of SparseVector and sparse_vector.hpp on payloads that have this body. Other
/// operands must belong to the same model, or SimulationError is thrown.
class SparseBody : public Body {
 public:
  [[nodiscard]] bool is_statistical() const { return statistical_; }

  [[nodiscard]] virtual std::size_t position_of(const Payload& payload, std::uint32_t coordinate,
                                                std::size_t from) const = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> positions_of(
      const Payload& payload, std::span<const std::int64_t> cuts) const = 0;
  [[nodiscard]] virtual std::vector<std::int64_t> coordinates_at(
      const Payload& payload, std::span<const std::size_t> positions) const = 0;
  [[nodiscard]] virtual Payload sum(const Payload& a, const Payload& b) const = 0;
  [[nodiscard]] virtual Payload sum_within(const Payload& a, const Payload& b, std::uint32_t first,
                                           std::uint32_t last) const = 0;
  /// The sum, and the concatenation, of all vectors, any of which may be empty.
  [[nodiscard]] virtual Payload sum(std::span<const SparseVector> vectors) const = 0;
  [[nodiscard]] virtual Payload concatenation(std::span<const SparseVector> parts) const = 0;
  [[nodiscard]] virtual float kth_magnitude(const Payload& payload, std::int64_t k) const = 0;
  [[nodiscard]] virtual Payload at_least(const Payload& payload, float threshold) const = 0;
  [[nodiscard]] virtual Payload largest(const Payload& payload, std::int64_t k) const = 0;
  /// The entries of `payload` at coordinates that `other` has (`to_common`) or does not have.
  [[nodiscard]] virtual Payload restricted(const Payload& payload, const Payload& other,
                                           bool to_common) const = 0;
  [[nodiscard]] virtual Payload moved(const Payload& payload, std::int64_t by) const = 0;
  /// hash_parts.hpp
  [[nodiscard]] virtual std::vector<Payload> parts_by_hash(const Payload& payload,
                                                           int parts) const = 0;
  [[nodiscard]] virtual Payload joined_by_hash(std::span<const SparseVector> parts) const = 0;
  [[nodiscard]] virtual bool equal(const Payload& a, const Payload& b) const = 0;

 protected:
  explicit SparseBody(bool statistical) : statistical_(statistical) {}

 private:
  bool statistical_;
};

}  // namespace thinwire::inline gradient
