// A message between its posting and its completion.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/machine/networks/common/mailbox.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"

namespace thinwire::networks {

/// What a transfer is. All but messages on their routes have a RareTransfer.
enum class TransferKind : std::uint8_t {
  message,         ///< on a path as short as its route
  detour,          ///< a message on a longer path
  to_switches,     ///< of a collective in switches: from member `from` to them
  from_switches,   ///< and back to it
  acknowledgement  ///< no message: of one to `from`, for which others of this rank wait
};

/// A message that is posted and not yet delivered. Times are in seconds. `Route` is the type with
/// which the network identifies the route between two ranks. It fits in one cache line.
template <class Route>
struct alignas(64) Transfer {
  [[no_unique_address]] Route route;
  Rank from;
  Rank to;
  Strand strand;
  bool eager;  ///< begins before its receive is posted
  TransferKind kind;
  Words words;
  SlotIndex send;
  SlotIndex receive;
  double posted;
  double departed;
  double latency;  ///< of its route

  [[nodiscard]] bool in_switches() const {
    return kind == TransferKind::to_switches || kind == TransferKind::from_switches;
  }
};

/// What the path of a message that enters its links at `now` may be chosen by; `number` joins the number
/// of its rank and its sequence number there.
template <class Route>
struct Departure {
  Rank from;
  Rank to;
  Route route;
  Words words;
  double now;
  std::uint64_t number;
};

/// A message as its rank posts it, at `ready` seconds.
struct Posting {
  Rank from;
  Rank to;
  Strand strand = Strand::main;
  Tag tag;
  double ready;
  const Ends* ends = nullptr;  ///< of its route; nullptr if these are `from` and `to`
};

/// What only some transfers have, by their kind, or where few ranks stand for all.
struct RareTransfer {
  double extra_latency = 0;  ///< of a detour, in addition to the latency of the route
  SumIndex sum = kNoSum;     ///< the collective in switches
  Ends ends;                 ///< of its route
};

/// All transfers of a run. Freed ones are used again, so the memory depends on the number that are
/// under way at once.
template <class Route>
class Transfers {
 public:
  static_assert(sizeof(Transfer<Route>) == 64);

  TransferIndex acquire() {
    if (free_.empty()) {
      transfers_.emplace_back();
      numbers_.push_back(0);
      return static_cast<TransferIndex>(transfers_.size() - 1);
    }
    const TransferIndex index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(TransferIndex index) { free_.push_back(index); }

  Transfer<Route>& operator[](TransferIndex index) { return transfers_[index]; }
  const Transfer<Route>& operator[](TransferIndex index) const { return transfers_[index]; }
  /// What a transfer has beside this, which is made when it is first asked for.
  [[nodiscard]] RareTransfer& rare(TransferIndex index) {
    if (index >= rare_.size()) rare_.resize(index + 1);
    return rare_[index];
  }
  /// The sequence number of a transfer among its rank's transfers.
  [[nodiscard]] std::uint32_t& number(TransferIndex index) { return numbers_[index]; }
  /// The sequence numbers of all transfers.
  [[nodiscard]] const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  void prefetch(TransferIndex index) const { prefetch_line(&transfers_[index]); }

 private:
  std::vector<Transfer<Route>> transfers_;
  std::vector<std::uint32_t> numbers_;
  std::vector<RareTransfer> rare_;  ///< by transfer, up to the last one that has needed it
  std::vector<TransferIndex> free_;
};

}  // namespace thinwire::networks
