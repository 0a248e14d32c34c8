// Matching of messages with posted receives, for networks that run their own event loop.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::networks {

using SlotIndex = std::uint32_t;
inline constexpr SlotIndex kNoSlot = UINT32_MAX;
/// A message on its way, as its network counts them.
using TransferIndex = std::uint32_t;
inline constexpr TransferIndex kNoTransfer = UINT32_MAX;

/// One posted receive, or one message that came before its receive was posted. Or something else
/// that a strand may wait for, of which nobody has to: a send of an unknown end, a started program.
/// In a cache line of its own: by the time it is touched again it is in no cache.
struct alignas(64) Slot {
  Message message;
  double stamp = 0;          ///< posted: the receiver's clock then; arrived: when it is complete
  SlotIndex next = kNoSlot;  ///< the next of the same source and tag, or of the free list
  Rank from;
  Tag tag;
  TransferIndex transfer = kNoTransfer;  ///< of a message that is sent before it is complete
  bool sent = false;                     ///< its message is there, be it complete or not
  bool arrived = false;
  bool awaited = false;
  bool owed = true;  ///< somebody has to wait for it
};

/// All slots of a run; freed ones are used again, so memory follows what is in flight.
class SlotPool {
 public:
  [[nodiscard]] SlotIndex acquire(Rank from, Tag tag, bool owed = true);
  void release(SlotIndex index);
  Slot& operator[](SlotIndex index) { return slots_[index]; }
  const Slot& operator[](SlotIndex index) const { return slots_[index]; }
  void prefetch(SlotIndex index) const { prefetch_line(slots_.data() + index); }
  /// Slots that are owed, and were acquired and not released.
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  std::vector<Slot> slots_;
  SlotIndex free_ = kNoSlot;
  std::size_t in_use_ = 0;
};

/// A message and the receive that takes it.
struct Match {
  SlotIndex slot;
  bool posted;  ///< the receive is, at the slot's stamp
};

/// What one rank has posted and not received, or been sent and not asked for: first come first
/// served for each (source, tag). An open-addressing table whose entries are queues of slots;
/// a queue holds posted receives or early messages, never both.
class Mailbox {
 public:
  /// Posts a receive. The slot is complete at once where its message is already there.
  [[nodiscard]] SlotIndex post(SlotPool& slots, Rank from, Tag tag, double now);
  /// Takes a message in: returns the slot of the receive that it completes, or kNoSlot.
  [[nodiscard]] SlotIndex arrive(SlotPool& slots, Rank from, Tag tag, Message&& message,
                                 double stamp);
  /// Takes a message in that is on its way: it is matched now and complete later.
  [[nodiscard]] Match send(SlotPool& slots, Rank from, Tag tag, Message&& message,
                           TransferIndex transfer);
  // What is about to be touched is fetched ahead, in the order in which addresses become known:
  // where a key lies, what waits there, and where the last receive was posted, as the next one lies
  // near.
  void prefetch(Rank from, Tag tag) const;
  void prefetch_waiting(const SlotPool& slots, Rank from, Tag tag) const;
  void prefetch_posted() const { prefetch_line(&entries_[posted_]); }
  /// The heads of all queues that were never matched.
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
  std::size_t used_ = 0;
  std::size_t posted_ = 0;  // where the last receive was posted
};

}  // namespace thinwire::networks
