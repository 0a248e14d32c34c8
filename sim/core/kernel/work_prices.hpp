// Costs of local work. All are 0 by default, as in the cost tables of the papers, which contain
// only the costs of messages.
#pragma once

#include <cstdint>

#include "sim/core/base/units.hpp"

namespace thinwire::inline kernel {

/// The cost of one kind of work.
struct Price {
  Seconds call;     ///< per operation on a positive amount, such as a kernel launch
  Seconds element;  ///< per component, entry or word

  [[nodiscard]] constexpr Seconds of(std::int64_t amount) const {
    return amount > 0 ? call + element * static_cast<double>(amount) : Seconds(0);
  }
};

/// The costs of all kinds of local work.
struct WorkPrices {
  // Selection, per component of the gradient:
  Price scan;        ///< read it once, for sums and copies
  Price compare;     ///< compare it with a threshold
  Price prefix_sum;  ///< compute the output position of a selected component (compaction)
  Price topk;        ///< select the k largest exactly
  Price sample;      ///< draw it at random
  Price hash;        ///< write it to a slot of a hash table

  // Summation:
  Price reduce;   ///< per word of a dense sum
  Price scatter;  ///< per entry that is added to a sum
  Price merge;    ///< per entry of either of two sorted sparse vectors that are summed
  Price unite;    ///< per index of the lists that are united (sorted, and duplicates dropped)
  Price sort;     ///< per entry of two sparse vectors of which the k largest are kept (gTopk)

  // Per component of a dense gradient:
  Price quantise;  ///< reduce its value to few bits, or restore it from them

  // Copies between the GPU and the host memory that messages are sent from, per word:
  Price to_host;
  Price to_device;
};

}  // namespace thinwire::inline kernel
