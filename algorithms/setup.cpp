#include "algorithms/setup.hpp"

#include <cmath>

namespace thinwire::algorithms {

Seconds FreshMemory::of(std::int64_t words, int pieces, Bytes longest_kept) const {
  constexpr double kPageBytes = 4096;
  const Bytes bytes = to_bytes(Words(words));
  if (bytes <= longest_kept) return Seconds(0);
  const Seconds registering =
      registration * pieces +
      (pieces > 0 ? registration_per_word * static_cast<double>(words) : Seconds(0));
  return page * std::ceil(static_cast<double>(bytes.value()) / kPageBytes) + registering;
}

}  // namespace thinwire::algorithms
