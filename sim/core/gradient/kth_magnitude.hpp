// The k-th largest magnitude of entries.
#pragma once

#include <cstdint>
#include <span>

#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

/// Of at least k entries, k positive. Most entries are told apart by the first bits of their
/// magnitudes, which are in the order of these, so only few are put in order.
[[nodiscard]] float kth_magnitude_of(std::span<const Entry> entries, std::int64_t k);

}  // namespace thinwire::inline gradient
