// The order in which the operations of a rank may begin.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "sim/core/kernel/schedule.hpp"

namespace thinwire::schedules {

/// Which operations wait for which, for each of the two relations.
using Followers = std::vector<std::vector<std::uint32_t>>;

/// The operations of a rank that have not begun, and what they still wait for.
class PendingOps {
 public:
  explicit PendingOps(const RankSchedule& ops) : begins_left_(ops.size()), ends_left_(ops.size()) {
    by_begin_.resize(ops.size());
    by_end_.resize(ops.size());
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      begins_left_[op] = static_cast<std::uint32_t>(ops[op].after_begin.size());
      ends_left_[op] = static_cast<std::uint32_t>(ops[op].after_end.size());
      for (const std::uint32_t before : ops[op].after_begin) by_begin_[before].push_back(op);
      for (const std::uint32_t before : ops[op].after_end) by_end_[before].push_back(op);
      if (begins_left_[op] == 0) heads_.insert(op);
      offer(op);
    }
  }

  /// The first of those that may begin now; nothing if there is none.
  [[nodiscard]] std::optional<std::uint32_t> next() const {
    return ready_.empty() ? std::nullopt : std::optional(ready_.top());
  }
  /// Those whose place in the order has come: they wait for ends at most.
  [[nodiscard]] const std::set<std::uint32_t>& heads() const { return heads_; }
  /// Takes next() out without beginning it: its processor is busy.
  void set_aside(std::vector<std::uint32_t>& aside) {
    aside.push_back(ready_.top());
    ready_.pop();
  }
  void put_back(std::vector<std::uint32_t>& aside) {
    for (const std::uint32_t op : aside) ready_.push(op);
    aside.clear();
  }
  /// next() begins.
  void begin_next() {
    const std::uint32_t op = ready_.top();
    ready_.pop();
    heads_.erase(op);
    for (const std::uint32_t follower : by_begin_[op]) {
      if (--begins_left_[follower] != 0) continue;
      heads_.insert(follower);
      offer(follower);
    }
  }
  void end(std::uint32_t op) {
    for (const std::uint32_t follower : by_end_[op]) {
      --ends_left_[follower];
      offer(follower);
    }
  }

 private:
  void offer(std::uint32_t op) {
    if (begins_left_[op] == 0 && ends_left_[op] == 0) ready_.push(op);
  }

  std::vector<std::uint32_t> begins_left_;
  std::vector<std::uint32_t> ends_left_;
  Followers by_begin_;
  Followers by_end_;
  std::set<std::uint32_t> heads_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready_;
};

}  // namespace thinwire::schedules
