// The data of a sparse vector: a body of the exact model (sparse_vector.cpp) or of the statistical
// one (statistical.hpp), which implements the operations on sparse vectors in its model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

class SparseVector;

/// The division of a space into blocks of so many coordinates each, of which the last may be shorter.
struct BlockSize {
  std::uint32_t width = 1;
  std::uint32_t coordinates = 0;  ///< of the space

  [[nodiscard]] std::uint32_t begin(std::uint32_t block) const {
    const std::uint64_t at = std::uint64_t{block} * width;
    return at < coordinates ? static_cast<std::uint32_t>(at) : coordinates;
  }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>((std::uint64_t{coordinates} + width - 1) / width);
  }
  friend bool operator==(const BlockSize&, const BlockSize&) = default;
};

/// The coordinates [0, end) in buckets of `width`, of which each has its share of k entries.
struct Buckets {
  std::int64_t width = 1;
  std::int64_t end = 0;
  std::int64_t k = 0;

  /// The entries of the coordinates before `coordinate`.
  [[nodiscard]] std::int64_t share_before(std::int64_t coordinate) const {
    return k * coordinate / end;
  }
};

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
  [[nodiscard]] virtual Payload largest_in_buckets(const Payload& payload,
                                                   const Buckets& buckets) const = 0;
  /// The entries of `payload` at coordinates that `other` has (`to_common`) or does not have.
  [[nodiscard]] virtual Payload restricted(const Payload& payload, const Payload& other,
                                           bool to_common) const = 0;
  [[nodiscard]] virtual Payload moved(const Payload& payload, std::int64_t by) const = 0;
  /// hash_parts.hpp
  [[nodiscard]] virtual std::vector<Payload> parts_by_hash(const Payload& payload,
                                                           int parts) const = 0;
  [[nodiscard]] virtual Payload joined_by_hash(std::span<const SparseVector> parts) const = 0;
  /// nonzero_blocks.hpp
  [[nodiscard]] virtual std::vector<bool> nonzero_blocks(
      const Payload& payload, const BlockSize& size, std::span<const std::uint32_t> like) const = 0;
  [[nodiscard]] virtual Payload in_blocks(const Payload& payload, const BlockSize& size,
                                          std::span<const std::uint32_t> blocks,
                                          std::uint32_t of) const = 0;
  [[nodiscard]] virtual Payload joined_blocks(std::span<const SparseVector> parts) const = 0;
  [[nodiscard]] virtual bool equal(const Payload& a, const Payload& b) const = 0;

 protected:
  explicit SparseBody(bool statistical) : statistical_(statistical) {}

 private:
  bool statistical_;
};

}  // namespace thinwire::inline gradient
