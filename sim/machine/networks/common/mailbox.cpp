#include "sim/machine/networks/common/mailbox.hpp"

#include <algorithm>
#include <utility>

namespace thinwire::networks {

namespace {

std::uint64_t key_of(Rank from, Tag tag) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from.value())) << 32U) |
         static_cast<std::uint32_t>(tag.value());
}

}  // namespace

SlotIndex SlotPool::acquire(Rank from, Tag tag, bool owed) {
  in_use_ += owed ? 1 : 0;
  SlotIndex index = free_;
  if (index == kNoSlot) {
    index = static_cast<SlotIndex>(slots_.size());
    slots_.emplace_back();
  } else {
    free_ = slots_[index].next;
    slots_[index].next = kNoSlot;
  }
  slots_[index].stamp = 0;
  slots_[index].from = from;
  slots_[index].tag = tag;
  slots_[index].owed = owed;
  return index;
}

void SlotPool::release(SlotIndex index) {
  Slot& slot = slots_[index];
  in_use_ -= slot.owed ? 1 : 0;
  slot.message = Message{};
  slot.transfer = kNoTransfer;
  slot.sent = false;
  slot.arrived = false;
  slot.held = false;
  slot.awaited = false;
  slot.watched = false;
  slot.next = std::exchange(free_, index);
}

SlotIndex Mailbox::post(SlotPool& slots, Rank from, Tag tag, double now) {
  const std::uint64_t key = key_of(from, tag);
  const std::size_t at = find(key);
  next_ = static_cast<std::uint32_t>(at);
  if (entries_[at].key == key && slots[entries_[at].head].sent) {
    const SlotIndex slot = pop(slots, at);
    slots[slot].stamp = std::max(slots[slot].stamp, now);
    return slot;
  }
  const SlotIndex slot = slots.acquire(from, tag);
  slots[slot].stamp = now;
  append(slots, at, key, slot);
  return slot;
}

SlotIndex Mailbox::arrive(SlotPool& slots, Rank from, Tag tag, Message&& message, double stamp) {
  const Match match = send(slots, from, tag, std::move(message), kNoTransfer);
  Slot& slot = slots[match.slot];
  slot.arrived = true;
  slot.stamp = std::max(slot.stamp, stamp);
  return match.posted ? match.slot : kNoSlot;
}

Match Mailbox::send(SlotPool& slots, Rank from, Tag tag, Message&& message,
                    TransferIndex transfer) {
  const std::uint64_t key = key_of(from, tag);
  const std::size_t at = find(key);
  const bool posted = entries_[at].key == key && !slots[entries_[at].head].sent;
  const SlotIndex index = posted ? pop(slots, at) : slots.acquire(from, tag);
  Slot& slot = slots[index];
  slot.message = std::move(message);
  slot.sent = true;
  slot.transfer = transfer;
  if (!posted) {
    slot.stamp = 0;
    append(slots, at, key, index);
  }
  return {index, posted};
}

std::vector<SlotIndex> Mailbox::unmatched() const {
  std::vector<SlotIndex> heads;
  for (const Entry& entry : entries_) {
    if (entry.key != kEmpty) heads.push_back(entry.head);
  }
  return heads;
}

std::size_t Mailbox::home(std::uint64_t key) const {
  // Ranks often address neighbouring ranks in turn: four neighbours share a cache line.
  constexpr std::uint64_t kBeside = 4;
  const std::uint64_t from = key >> 32U;
  const std::uint64_t line = (from / kBeside << 32U) | (key & 0xffffffffU);
  const std::uint64_t mixed = (line * 0x9e3779b97f4a7c15U) >> 40U;
  return static_cast<std::size_t>(mixed * kBeside + from % kBeside) & (entries_.size() - 1);
}

std::size_t Mailbox::find(std::uint64_t key) const {
  std::size_t at = home(key);
  while (entries_[at].key != key && entries_[at].key != kEmpty)
    at = (at + 1) & (entries_.size() - 1);
  return at;
}

void Mailbox::append(SlotPool& slots, std::size_t at, std::uint64_t key, SlotIndex slot) {
  if (entries_[at].key == key) {
    slots[entries_[at].tail].next = slot;
    entries_[at].tail = slot;
    return;
  }
  if (2 * (std::size_t{used_} + 1) > entries_.size()) {
    grow();
    at = find(key);
  }
  entries_[at] = {.key = key, .head = slot, .tail = slot};
  ++used_;
}

SlotIndex Mailbox::pop(const SlotPool& slots, std::size_t at) {
  const SlotIndex slot = entries_[at].head;
  if (entries_[at].head != entries_[at].tail) {
    entries_[at].head = slots[slot].next;
    return slot;
  }
  // The queue is empty: remove its entry, and shift back the entries that had probed past it.
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t next = (at + 1) & mask; entries_[next].key != kEmpty; next = (next + 1) & mask) {
    if (((next - home(entries_[next].key)) & mask) >= ((next - at) & mask)) {
      entries_[at] = entries_[next];
      at = next;
    }
  }
  entries_[at] = Entry{};
  --used_;
  return slot;
}

void Mailbox::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.key != kEmpty) entries_[find(entry.key)] = entry;
  }
}

}  // namespace thinwire::networks
