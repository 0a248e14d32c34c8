#include "algorithms/decoding.hpp"

#include <algorithm>

namespace thinwire::algorithms {

Seconds dense_decoding(const WorkPrices& prices, Seconds word, std::int64_t components,
                       double entries, int senders) {
  const Seconds launches = prices.scan.call + prices.scatter.call + prices.reduce.call;
  const Seconds dense = (prices.scan.element + word) * static_cast<double>(components);
  const Seconds work = dense + prices.scatter.element * (entries / static_cast<double>(senders));
  return std::max(launches, work) * static_cast<double>(senders);
}

Seconds sparse_decoding(const WorkPrices& prices, Seconds entry, std::int64_t components,
                        double entries) {
  const Seconds zeroed = prices.scan.of(components);
  return entries > 0 ? zeroed + prices.scatter.call + entry * entries : zeroed;
}

Seconds intersecting(const WorkPrices& prices, std::int64_t components, std::int64_t entries,
                     std::int64_t others) {
  constexpr std::int64_t kBytesOfScan = 4;  // that a scan reads or writes for each component
  return prices.scan.of((components + kBytesOfScan - 1) / kBytesOfScan) +
         prices.scatter.of(others) + prices.scatter.of(entries);
}

}  // namespace thinwire::algorithms
