// Tells whether two values are the same object, without looking at their data.
#pragma once

#include <cstdint>

#include "sim/core/base/random.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// 128 bits derived from the address of a body and the range of a payload in it. Equal bodies at
/// different addresses differ in them, and an address identifies a body only while it lives.
struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// Combines fingerprints into the fingerprint of a set: the order does not matter.
  friend Fingerprint operator+(Fingerprint a, Fingerprint b) {
    return {a.low + b.low, a.high + b.high};
  }
  friend bool operator==(Fingerprint, Fingerprint) = default;
};

[[nodiscard]] inline Fingerprint fingerprint(const Message& message) {
  const auto address = reinterpret_cast<std::uintptr_t>(message.payload.body.get());
  const std::uint64_t part = (std::uint64_t{message.payload.first} << 32U) | message.payload.last;
  const std::int64_t words = message.words.value();
  return {random_bits(1, address, part, words), random_bits(2, address, part, words)};
}

}  // namespace thinwire::inline gradient
