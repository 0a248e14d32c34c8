// The queue of departures of the α-β machine: each rank has at most one message at the head of its
// send port, so an entry is (time, rank).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace thinwire {

/// `rank` sends the message at the head of its port at `time`.
struct Departure {
  double time;
  std::uint32_t rank;
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, JACM 1990): the times that come out never
/// decrease, so entries are kept by the highest bit in which they differ from the last one out.
/// The bits of doubles that are not negative order as the doubles do. Schedules in lockstep put
/// thousands of entries at one time; they come out together, by rank.
class Departures {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// `time` must not lie before the last one that came out.
  void push(double time, std::uint32_t rank);
  /// Moves the entries of the earliest time to the end of `batch`, in the order of their ranks,
  /// if that time is not after `latest`; says whether it did.
  bool pop_earliest(double latest, std::vector<Departure>& batch);

 private:
  void place(const Departure& departure);

  std::array<std::vector<Departure>, 65> buckets_;
  std::uint64_t last_ = 0;      // the bits of the last time that came out
  std::uint64_t occupied_ = 0;  // bit b: buckets_[b + 1] is not empty
  std::size_t size_ = 0;
};

}  // namespace thinwire
