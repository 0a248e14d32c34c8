// What local work costs a rank. All 0 by default: the papers' tables charge for messages alone.
#pragma once

#include <cstdint>

#include "sim/core/base/units.hpp"

namespace thinwire::inline kernel {

/// What one kind of work costs.
struct Price {
  Seconds call;     ///< where there is any of it, whatever the amount: launches of kernels
  Seconds element;  ///< each component, entry or word

  [[nodiscard]] constexpr Seconds of(std::int64_t amount) const {
    return amount > 0 ? call + element * static_cast<double>(amount) : Seconds(0);
  }
};

/// What each kind of local work costs a rank.
struct WorkPrices {
  // Of selecting, a component of the gradient:
  Price scan;        ///< reading it once, for sums and copies
  Price compare;     ///< holding it against a threshold
  Price prefix_sum;  ///< finding where what passed goes, so that it can be copied in order
  Price topk;        ///< selecting the k largest exactly
  Price sample;      ///< drawing it at random
  Price hash;        ///< writing it to a slot of a hash table

  // Of summing:
  Price reduce;   ///< a word of a dense sum
  Price scatter;  ///< an entry that is added to a sum
  Price sort;     ///< an entry of two sparse vectors of which the k largest are kept (gTopk)

  // A word, between the GPU and the memory from which messages are sent, where that is the host's:
  Price to_host;
  Price to_device;
};

}  // namespace thinwire::inline kernel
