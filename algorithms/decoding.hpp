// The time to make dense vectors of sparse ones, on the rank that received or selected them, and to
// find what two sparse ones have in common.
#pragma once

#include <cstdint>

#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::algorithms {

/// The phase that is charged for decoding what was gathered, and adding it.
inline constexpr const char* kLocalReduction = "local_reduction";
/// The phase that is charged for writing a sparse sum into a dense vector.
inline constexpr const char* kDecoding = "decoding";

/// The time in seconds to decode densely (DRAGONN, section 4.3). For each sender a vector of
/// `components` is set to zero, the sender's share of all `entries` is scattered into it, and the vector
/// is added at `word` seconds per component. Kernel launches overlap with the previous kernels.
/// Setting to zero has the price of `scan`, which reads as many bytes.
[[nodiscard]] Seconds dense_decoding(const WorkPrices& prices, Seconds word,
                                     std::int64_t components, double entries, int senders);
/// The time in seconds to decode all senders together, or to make one sparse vector dense: one
/// vector is set to zero, and the `entries`, if there are any, are added to it at `entry` seconds
/// each.
[[nodiscard]] Seconds sparse_decoding(const WorkPrices& prices, Seconds entry,
                                      std::int64_t components, double entries);
/// The time in seconds to find which of `entries` entries are among the `others`: in a mask of one
/// byte a component, which is set to zero, the others are marked, and the entries are looked up.
[[nodiscard]] Seconds intersecting(const WorkPrices& prices, std::int64_t components,
                                   std::int64_t entries, std::int64_t others);

}  // namespace thinwire::algorithms
