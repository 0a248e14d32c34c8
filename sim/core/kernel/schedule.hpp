// A schedule: the sends, receives and local work of every rank in one run, and what each of them
// has to wait for. Programs are recorded as schedules (recording.hpp), and schedules that come from
// elsewhere run as programs (sim/machine/schedules/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/units.hpp"

namespace thinwire::inline kernel {

enum class ScheduleOpKind : std::uint8_t { send, receive, work };

/// One operation of a rank.
struct ScheduleOp {
  ScheduleOpKind kind = ScheduleOpKind::work;
  /// Local work occupies the rank's processor of this number. Work and messages of the same
  /// processor begin only when it is idle.
  int processor = 0;
  Rank peer;    ///< of a message
  Tag tag;      ///< of a message
  Words words;  ///< of a message
  Seconds work;
};

/// For each operation of a rank some others, by their positions in the rank's list: all in one
/// array, since schedules have millions of operations.
class OpLists {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< an operation, and one of its list

  OpLists() = default;
  /// The lists of this many operations, in the order of the pairs.
  OpLists(std::size_t ops, std::span<const Pair> pairs) : begins_(ops + 1), all_(pairs.size()) {
    for (const Pair& pair : pairs) ++begins_[pair.first + 1];
    for (std::size_t op = 0; op < ops; ++op) begins_[op + 1] += begins_[op];
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (const Pair& pair : pairs) all_[next[pair.first]++] = pair.second;
  }

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t op) const {
    return {all_.data() + begins_[op], all_.data() + begins_[op + 1]};
  }
  /// Adds the list of the next operation.
  void add(std::span<const std::uint32_t> list) {
    all_.insert(all_.end(), list.begin(), list.end());
    begins_.push_back(static_cast<std::uint32_t>(all_.size()));
  }
  /// For each operation those that have it in their lists, ascending. All positions must be those
  /// of operations.
  [[nodiscard]] OpLists reversed() const {
    std::vector<Pair> pairs;
    pairs.reserve(all_.size());
    const std::size_t ops = begins_.size() - 1;
    for (std::uint32_t op = 0; op < ops; ++op) {
      for (const std::uint32_t other : of(op)) pairs.emplace_back(other, op);
    }
    return {ops, pairs};
  }

 private:
  std::vector<std::uint32_t> begins_{0};  ///< by operation, and the end
  std::vector<std::uint32_t> all_;
};

/// The operations of a rank, and for each of them the operations of the same rank that it waits for.
class RankSchedule {
 public:
  RankSchedule() = default;
  /// The pairs are an operation and one that it waits for.
  RankSchedule(std::vector<ScheduleOp> ops, std::span<const OpLists::Pair> after_end,
               std::span<const OpLists::Pair> after_begin)
      : ops_(std::move(ops)),
        after_end_(ops_.size(), after_end),
        after_begin_(ops_.size(), after_begin) {}

  [[nodiscard]] std::size_t size() const { return ops_.size(); }
  [[nodiscard]] bool empty() const { return ops_.empty(); }
  [[nodiscard]] const ScheduleOp& operator[](std::size_t op) const { return ops_[op]; }
  [[nodiscard]] ScheduleOp& operator[](std::size_t op) { return ops_[op]; }
  [[nodiscard]] auto begin() const { return ops_.begin(); }
  [[nodiscard]] auto end() const { return ops_.end(); }
  [[nodiscard]] auto begin() { return ops_.begin(); }
  [[nodiscard]] auto end() { return ops_.end(); }

  /// An operation begins when these have ended,
  [[nodiscard]] const OpLists& after_end() const { return after_end_; }
  /// and these have begun.
  [[nodiscard]] const OpLists& after_begin() const { return after_begin_; }

  /// Adds an operation.
  void add(const ScheduleOp& op, std::span<const std::uint32_t> after_end,
           std::span<const std::uint32_t> after_begin) {
    ops_.push_back(op);
    after_end_.add(after_end);
    after_begin_.add(after_begin);
  }

 private:
  std::vector<ScheduleOp> ops_;
  OpLists after_end_;
  OpLists after_begin_;
};

/// By rank.
using Schedule = std::vector<RankSchedule>;

}  // namespace thinwire::inline kernel
