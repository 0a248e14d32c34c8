// The event queue of a network. There are at most a few events per rank, port or link, so an entry
// holds only a time and an owner.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace thinwire::networks {

/// An event of `who` (a rank, a port, a link) at `time`, in seconds.
struct Event {
  double time;
  std::uint32_t who;
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, JACM 1990). Popped times never decrease, so an
/// entry is stored in the bucket of the highest bit in which its time differs from the last popped
/// time. The bit patterns of non-negative doubles are ordered like the doubles. Schedules in
/// lockstep have thousands of entries with the same time. These are popped together, sorted by
/// `who`.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// `time` must not be before the last popped time.
  void push(double time, std::uint32_t who);
  /// Appends the entries of the earliest time to `batch`, in the order of `who`, unless that time
  /// is after `latest`. Returns whether entries were appended.
  bool pop_earliest(double latest, std::vector<Event>& batch);
  /// The same, and perhaps later entries up to `latest`, in the order of time and `who`. Takes
  /// fewer steps for each entry.
  bool pop_some(double latest, std::vector<Event>& batch);

 private:
  void insert(const Event& event);
  /// The bucket of the earliest entries, if none is at the last popped time.
  [[nodiscard]] std::vector<Event>& first_bucket() {
    return buckets_[static_cast<std::size_t>(std::countr_zero(occupied_)) + 1];
  }

  std::array<std::vector<Event>, 65> buckets_;
  std::uint64_t last_ = 0;      // the bits of the last popped time
  std::uint64_t occupied_ = 0;  // bit b: buckets_[b + 1] is not empty
  std::size_t size_ = 0;
};

}  // namespace thinwire::networks
