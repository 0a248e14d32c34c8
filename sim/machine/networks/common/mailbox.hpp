// Matches messages with posted receives, for networks that have their own event loop.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::networks {

using SlotIndex = std::uint32_t;
inline constexpr SlotIndex kNoSlot = UINT32_MAX;
/// The index of a message in flight in its network.
using TransferIndex = std::uint32_t;
inline constexpr TransferIndex kNoTransfer = UINT32_MAX;

/// The state of a posted receive, or of an early message, which arrived before its receive was
/// posted. A slot is also used for requests that a rank need not wait for: a send whose completion
/// time is not known when it is posted, and a started program. Each slot has its own cache line,
/// because it is usually no longer in the cache when it is used again.
struct alignas(64) Slot {
  Message message;
  double stamp = 0;          ///< if posted: the receiver's clock; if arrived: the completion time
  SlotIndex next = kNoSlot;  ///< the next slot of the same source and tag, or in the free list
  Rank from;
  Tag tag;
  TransferIndex transfer = kNoTransfer;  ///< for a message that is matched before it is complete
  bool sent = false;                     ///< its message has been sent, and may still be in flight
  bool arrived = false;
  bool held = false;  ///< its message departs when the receive is posted
  bool awaited = false;
  bool watched =
      false;  ///< a rank waits for the first of several, of which it is one (Communicator::watch)
  bool owed = true;  ///< the rank must wait for it
};

/// All slots of a run. Freed slots are reused, so the memory depends on the number in use at once.
class SlotPool {
 public:
  [[nodiscard]] SlotIndex acquire(Rank from, Tag tag, bool owed = true);
  void release(SlotIndex index);
  Slot& operator[](SlotIndex index) { return slots_[index]; }
  const Slot& operator[](SlotIndex index) const { return slots_[index]; }
  void prefetch(SlotIndex index) const { prefetch_line(slots_.data() + index); }
  /// The number of slots in use that a rank must wait for.
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  std::vector<Slot> slots_;
  SlotIndex free_ = kNoSlot;
  std::size_t in_use_ = 0;
};

/// A message together with its receive.
struct Match {
  SlotIndex slot;
  bool posted;  ///< whether the receive has been posted; its time is the slot's stamp
};

/// The posted receives and the early messages of one rank, in FIFO order per (source, tag). It is
/// an open-addressing hash table whose entries are queues of slots; a queue holds posted receives
/// or early messages, never both.
class Mailbox {
 public:
  /// Posts a receive. The slot is complete at once if its message has already arrived.
  [[nodiscard]] SlotIndex post(SlotPool& slots, Rank from, Tag tag, double now);
  /// Accepts a complete message. Returns the slot of the receive that the message completes, or
  /// kNoSlot if none has been posted.
  [[nodiscard]] SlotIndex arrive(SlotPool& slots, Rank from, Tag tag, Message&& message,
                                 double stamp);
  /// Accepts a message in flight: it is matched now and completed later.
  [[nodiscard]] Match send(SlotPool& slots, Rank from, Tag tag, Message&& message,
                           TransferIndex transfer);
  /// Prefetches the entry of the next receive, which is taken to be near the last one.
  void prefetch_next() const { prefetch_line(&entries_[next_]); }
  /// The heads of all queues that are left unmatched.
  [[nodiscard]] std::vector<SlotIndex> unmatched() const;

 private:
  struct Entry {
    std::uint64_t key = kEmpty;
    SlotIndex head = kNoSlot;
    SlotIndex tail = kNoSlot;
  };
  static constexpr std::uint64_t kEmpty = UINT64_MAX;

  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  [[nodiscard]] std::size_t find(std::uint64_t key) const;
  void append(SlotPool& slots, std::size_t at, std::uint64_t key, SlotIndex slot);
  SlotIndex pop(const SlotPool& slots, std::size_t at);
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(4);
  std::uint32_t used_ = 0;
  std::uint32_t next_ = 0;  // where the entry of the next receive probably is
};

}  // namespace thinwire::networks
