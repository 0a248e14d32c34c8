// The queue of events of a network: at most a few for each rank, port or link, so an entry is only
// when and who.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace thinwire::networks {

/// Something happens to `who` (a rank, a port, a link) at `time`, in seconds.
struct Event {
  double time;
  std::uint32_t who;
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, JACM 1990): the times that come out never
/// decrease, so entries are kept by the highest bit in which they differ from the last one out.
/// The bits of doubles that are not negative order as the doubles do. Schedules in lockstep put
/// thousands of entries at one time; they come out together, by `who`.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// `time` must not lie before the last one that came out.
  void push(double time, std::uint32_t who);
  /// Moves the entries of the earliest time to the end of `batch`, in the order of `who`,
  /// if that time is not after `latest`; says whether it did.
  bool pop_earliest(double latest, std::vector<Event>& batch);

 private:
  void insert(const Event& event);

  std::array<std::vector<Event>, 65> buckets_;
  std::uint64_t last_ = 0;      // the bits of the last time that came out
  std::uint64_t occupied_ = 0;  // bit b: buckets_[b + 1] is not empty
  std::size_t size_ = 0;
};

}  // namespace thinwire::networks
