// The event queue of a network. There are at most a few events per rank, port or link, so an entry
// holds only a time and an owner.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace thinwire::networks {

/// An event of `who` (a link, a message, a strand) at `time`, in seconds.
struct Event {
  static constexpr std::uint32_t kAfterRanks = UINT32_MAX;

  double time;
  std::uint32_t who;
  /// At one time, what orders events: 0, or one more than the rank whose message it is, or
  /// kAfterRanks.
  std::uint32_t rank = 0;
};

/// The order of events: by time, then rank, then the sequence number among what the rank has posted.
/// Events of no rank are in the order of `who`. The order depends on nothing but the simulated run.
class EventOrder {
 public:
  EventOrder() = default;
  /// `numbers`, by `who` - `first`, are the sequence numbers of messages.
  EventOrder(const std::vector<std::uint32_t>& numbers, std::uint32_t first)
      : numbers_(&numbers), first_(first) {}

  /// Whether `a` comes before `b`.
  [[nodiscard]] bool operator()(const Event& a, const Event& b) const {
    if (a.time != b.time) return a.time < b.time;
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.rank == 0 || a.rank == Event::kAfterRanks || numbers_ == nullptr) return a.who < b.who;
    return (*numbers_)[a.who - first_] < (*numbers_)[b.who - first_];
  }

 private:
  const std::vector<std::uint32_t>* numbers_ = nullptr;
  std::uint32_t first_ = 0;
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, JACM 1990). Popped times never decrease, so an
/// entry is stored in the bucket of the highest bit in which its time differs from the last popped
/// time. The bit patterns of non-negative doubles are ordered like the doubles. Schedules in
/// lockstep have thousands of entries with the same time. These are popped together, in their order.
class EventQueue {
 public:
  explicit EventQueue(EventOrder order = {}) : order_(order) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// The time must not be before the last popped time.
  void push(const Event& event);
  /// Appends the entries of the earliest time to `batch`, in their order, unless that time is after
  /// `latest`. Returns whether entries were appended.
  bool pop_earliest(double latest, std::vector<Event>& batch);
  /// The same, and perhaps later entries up to `latest`. Takes fewer steps for each entry.
  bool pop_some(double latest, std::vector<Event>& batch);

 private:
  void insert(const Event& event);
  /// The bucket of the earliest entries, if none is at the last popped time.
  [[nodiscard]] std::vector<Event>& first_bucket() {
    return buckets_[static_cast<std::size_t>(std::countr_zero(occupied_)) + 1];
  }

  EventOrder order_;
  std::array<std::vector<Event>, 65> buckets_;
  std::uint64_t last_ = 0;      // the bits of the last popped time
  std::uint64_t occupied_ = 0;  // bit b: buckets_[b + 1] is not empty
  std::size_t size_ = 0;
};

}  // namespace thinwire::networks
