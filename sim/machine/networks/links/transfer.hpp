// A message between its posting and its completion, and the queue of a serial port.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"
#include "topologies/loading/compact_routes.hpp"

namespace thinwire::networks {

/// A message that is posted and not yet delivered. Times are in seconds.
struct Transfer {
  topologies::Way way;
  Rank from;
  Rank to;
  Tag tag;
  Strand strand;
  bool eager;     ///< does not wait for its receiver
  bool released;  ///< may depart
  Words words;
  SlotIndex send;
  SlotIndex receive;
  double posted;
  double departed;
  double latency;        ///< of its minimal route
  double extra_latency;  ///< of its path, beyond that
};

/// A serial send port of a rank: released transfers depart one after another.
class SendPort {
 public:
  void push(double time, TransferIndex transfer) {
    ready_.push_back({time, order_++, transfer});
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
  }
  /// The departure time of the next transfer.
  [[nodiscard]] double next() const {
    if (ready_.empty()) return kNever;
    return std::max(ready_.front().time, free);
  }
  TransferIndex pop() {
    const TransferIndex first = ready_.front().transfer;
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    ready_.pop_back();
    return first;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  double free = 0;            ///< when it has served the last departed transfer
  double scheduled = kNever;  ///< the time of its event

 private:
  struct Ready {
    double time;
    std::uint64_t order;
    TransferIndex transfer;

    friend bool operator>(const Ready& a, const Ready& b) {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  std::vector<Ready> ready_;  ///< a heap
  std::uint64_t order_ = 0;
};

}  // namespace thinwire::networks
