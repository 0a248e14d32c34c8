// The part of a sum as ZEN's servers send it: its values, and instead of their indexes a bit for
// each coordinate of the part by hash (OSDI 2025, Algorithm 2, the hash bitmap).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// An immutable, shared part. In a simulation it refers to the part as a sparse vector.
class HashBitmap {
 public:
  /// Which part of which space it is of.
  struct Place {
    std::uint32_t part = 0;
    std::uint32_t parts = 1;
    std::uint32_t coordinates = 0;  ///< of the whole space

    friend bool operator==(const Place&, const Place&) = default;
  };

  [[nodiscard]] static Payload of(SparseVector part, Place place);
  /// Whether a payload is such a part.
  [[nodiscard]] static bool holds(const Payload& payload);
  [[nodiscard]] static SparseVector part(const Payload& payload);
  [[nodiscard]] static Place place(const Payload& payload);

  /// The words of a bitmap of so many components.
  [[nodiscard]] static constexpr std::int64_t words(std::int64_t components) {
    constexpr std::int64_t kBits = 32;
    return (components + kBits - 1) / kBits;
  }

  /// The bits and then the values, a word each, of a part that has entries; and the part back.
  /// Throws SimulationError when there are not as many bits as values.
  [[nodiscard]] static std::vector<std::uint32_t> encoded(const Payload& payload);
  [[nodiscard]] static SparseVector decoded(const std::vector<std::uint32_t>& words,
                                            std::size_t values, Place place);

 private:
  struct BitmapBody;
};

}  // namespace thinwire::inline gradient
