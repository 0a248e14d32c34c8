// The order in which the operations of a rank may begin.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "sim/core/kernel/schedule.hpp"

namespace thinwire::schedules {

/// The operations of a rank that have not begun, and what they still wait for.
class PendingOps {
 public:
  explicit PendingOps(const RankSchedule& ops)
      : left_(ops.size()),
        by_begin_(ops.after_begin().reversed()),
        by_end_(ops.after_end().reversed()) {
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      left_[op].begins = static_cast<std::uint32_t>(ops.after_begin().of(op).size());
      left_[op].ends = static_cast<std::uint32_t>(ops.after_end().of(op).size());
      if (left_[op].begins == 0) add_head(op);
      offer(op);
    }
  }

  /// The first of those that may begin now; nothing if there is none.
  [[nodiscard]] std::optional<std::uint32_t> next() const {
    return ready_.empty() ? std::nullopt : std::optional(ready_.top());
  }
  /// The number of those whose place in the order has come: they wait for ends at most.
  [[nodiscard]] std::size_t heads() const { return heads_; }
  /// The one, if there is one.
  [[nodiscard]] std::uint32_t head() const { return static_cast<std::uint32_t>(sum_of_heads_); }
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
    --heads_;
    sum_of_heads_ -= op;
    for (const std::uint32_t follower : by_begin_.of(op)) {
      if (--left_[follower].begins != 0) continue;
      add_head(follower);
      offer(follower);
    }
  }
  void end(std::uint32_t op) {
    for (const std::uint32_t follower : by_end_.of(op)) {
      --left_[follower].ends;
      offer(follower);
    }
  }

 private:
  /// What an operation still waits for.
  struct Left {
    std::uint32_t begins = 0;
    std::uint32_t ends = 0;
  };

  void add_head(std::uint32_t op) {
    ++heads_;
    sum_of_heads_ += op;
  }
  void offer(std::uint32_t op) {
    if (left_[op].begins == 0 && left_[op].ends == 0) ready_.push(op);
  }

  std::vector<Left> left_;
  OpLists by_begin_;  ///< of each operation those that wait for its begin,
  OpLists by_end_;    ///< and for its end
  std::size_t heads_ = 0;
  std::uint64_t sum_of_heads_ = 0;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready_;
};

}  // namespace thinwire::schedules
