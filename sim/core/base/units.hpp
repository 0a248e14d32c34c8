// Strong types for the quantities of a simulation, so that Words are never taken for Bytes, nor a
// rank for a count. value() returns the number inside.
#pragma once

#include <compare>
#include <cstdint>

namespace thinwire::inline base {

/// A strongly typed number: quantities with different tags do not mix.
template <class Tag, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep factor) {
    return Quantity(a.value_ * factor);
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;  // NOLINT(modernize-use-nullptr)

 private:
  Rep value_{};
};

/// A length on the wire, in words of 4 bytes: the unit of the papers' cost tables.
using Words = Quantity<struct WordsTag, std::int64_t>;
/// A length in bytes.
using Bytes = Quantity<struct BytesTag, std::int64_t>;
/// Simulated time.
using Seconds = Quantity<struct SecondsTag, double>;
/// One process of the collective, numbered 0 .. P-1.
using Rank = Quantity<struct RankTag, std::int32_t>;
/// Distinguishes messages of one pair of ranks. Tags are few and constant: SMPI keeps a map by tag.
using Tag = Quantity<struct TagTag, std::int32_t>;

[[nodiscard]] constexpr Bytes to_bytes(Words words) { return Bytes(words.value() * 4); }

}  // namespace thinwire::inline base
