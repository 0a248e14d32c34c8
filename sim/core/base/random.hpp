// Counter-based random numbers: a draw is a pure function of its counters (seed, rank, iteration,
// position ...), so it does not depend on the order in which the simulator runs the ranks.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace thinwire::inline base {

/// Mixes a 64-bit state (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// One 64-bit draw for a sequence of counters.
template <class... Counters>
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, Counters... counters) {
  std::uint64_t state = mix(seed);
  ((state = mix(state ^ static_cast<std::uint64_t>(counters))), ...);
  return state;
}

/// A uniform number in the open interval (0, 1). It is never 0, so its logarithm is finite, and
/// never 1: the added half step is exact with 52 bits and would be rounded with 53.
[[nodiscard]] constexpr double to_unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 12U) + 0.5) * 0x1p-52;
}

/// A standard normal draw from two uniform ones (Box and Muller).
[[nodiscard]] inline double normal_draw(std::uint64_t bits, std::uint64_t more_bits) {
  return std::sqrt(-2 * std::log(to_unit(bits))) *
         std::cos(2 * std::numbers::pi * to_unit(more_bits));
}
[[nodiscard]] inline double normal_draw(std::uint64_t bits) {
  return normal_draw(mix(bits), mix(~bits));
}

}  // namespace thinwire::inline base
