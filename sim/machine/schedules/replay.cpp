#include "sim/machine/schedules/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"

namespace thinwire::schedules {

namespace {

constexpr std::size_t kNowhere = SIZE_MAX;

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

/// The operations of a rank that have begun and not ended.
class OpsInFlight {
 public:
  explicit OpsInFlight(std::size_t ops) : at_(ops, kNowhere) {}

  void add(std::uint32_t op, Request request) {
    at_[op] = ops_.size();
    ops_.push_back(op);
    requests_.push_back(request);
  }
  void remove(std::uint32_t op) {
    const std::size_t at = std::exchange(at_[op], kNowhere);
    at_[ops_.back()] = at;
    at_[op] = kNowhere;
    ops_[at] = ops_.back();
    requests_[at] = requests_.back();
    ops_.pop_back();
    requests_.pop_back();
  }
  [[nodiscard]] bool has(std::uint32_t op) const { return at_[op] != kNowhere; }
  [[nodiscard]] Request request_of(std::uint32_t op) const { return requests_[at_[op]]; }
  [[nodiscard]] const std::vector<std::uint32_t>& ops() const { return ops_; }
  [[nodiscard]] const std::vector<Request>& requests() const { return requests_; }

 private:
  std::vector<std::size_t> at_;  ///< by operation: its position below
  std::vector<std::uint32_t> ops_;
  std::vector<Request> requests_;
};

/// Whether messages or work are on several processors.
bool has_processors(const RankSchedule& ops) {
  return std::ranges::any_of(
      ops, [&](const ScheduleOp& op) { return op.processor != ops.front().processor; });
}

/// Processors, and the work that they do.
using BusyProcessors = std::vector<std::pair<int, std::uint32_t>>;

/// What has to end before anything else can begin; nothing if any of what is under way will do.
std::vector<std::uint32_t> wanted_next(const RankSchedule& ops, const PendingOps& pending,
                                       const OpsInFlight& flying, const BusyProcessors& busy) {
  std::vector<std::uint32_t> wanted;
  if (pending.heads().empty()) {
    wanted = flying.ops();
    std::ranges::sort(wanted);
  } else if (pending.heads().size() == 1) {
    const ScheduleOp& op = ops[*pending.heads().begin()];
    for (const std::uint32_t before : op.after_end) {
      if (flying.has(before)) wanted.push_back(before);
    }
    for (const auto& [processor, work] : busy) {
      if (processor == op.processor && std::ranges::find(wanted, work) == wanted.end()) {
        wanted.push_back(work);
      }
    }
  }
  return wanted;
}

Task<void> replay_rank(Communicator& comm, const RankSchedule& ops) {
  PendingOps pending(ops);
  OpsInFlight flying(ops.size());
  const bool several = has_processors(ops);
  BusyProcessors busy;
  std::vector<std::uint32_t> aside;  // may begin, but for a busy processor
  const auto is_busy = [&](int processor) {
    return std::ranges::find(busy, processor, &std::pair<int, std::uint32_t>::first) != busy.end();
  };
  const auto end = [&](std::uint32_t op) {
    flying.remove(op);
    if (ops[op].kind == ScheduleOpKind::work) {
      std::erase_if(busy, [&](const auto& one) { return one.second == op; });
      pending.put_back(aside);
    }
    pending.end(op);
  };
  while (true) {
    while (const std::optional<std::uint32_t> next = pending.next()) {
      const ScheduleOp& op = ops[*next];
      if (is_busy(op.processor)) {
        pending.set_aside(aside);
        continue;
      }
      pending.begin_next();
      if (op.kind == ScheduleOpKind::send) {
        flying.add(*next, comm.isend(op.peer, op.tag, {.payload = {}, .words = op.words}));
      } else if (op.kind == ScheduleOpKind::receive) {
        flying.add(*next, comm.irecv(op.peer, op.tag));
      } else if (!several || op.work == Seconds(0)) {
        co_await comm.compute(op.work);
        pending.end(*next);
      } else {
        flying.add(*next, comm.start_work(op.work));
        busy.emplace_back(op.processor, *next);
      }
    }
    if (flying.ops().empty()) co_return;
    const std::vector<std::uint32_t> wanted = wanted_next(ops, pending, flying, busy);
    if (wanted.empty()) {
      const auto first = co_await comm.wait_any(flying.requests());
      end(flying.ops()[first.position]);
      continue;
    }
    for (const std::uint32_t op : wanted) {
      co_await comm.wait(flying.request_of(op));
      end(op);
    }
  }
}

}  // namespace

ScheduleTotals totals_of(const Schedule& schedule) {
  ScheduleTotals totals;
  for (const RankSchedule& ops : schedule) {
    totals.operations += static_cast<std::int64_t>(ops.size());
    for (const ScheduleOp& op : ops) {
      totals.work += op.work;
      if (op.kind != ScheduleOpKind::send) continue;
      ++totals.messages;
      totals.words += op.words;
    }
  }
  return totals;
}

void check_schedule(const Schedule& schedule, const std::string& origin) {
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    const RankSchedule& ops = schedule[rank];
    const auto refuse = [&](std::size_t op, const std::string& what) {
      throw InputError(fmt::format("{}: rank {}, operation {}: {}", origin, rank, op + 1, what));
    };
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const int peer = ops[i].peer.value();
      if (ops[i].kind != ScheduleOpKind::work &&
          (peer < 0 || static_cast<std::size_t>(peer) >= schedule.size())) {
        refuse(i,
               fmt::format("the peer {} is no rank; ranks are 0 to {}", peer, schedule.size() - 1));
      }
      for (const auto* before : {&ops[i].after_end, &ops[i].after_begin}) {
        for (const std::uint32_t op : *before) {
          if (op >= ops.size()) refuse(i, "it waits for an operation that does not exist");
        }
      }
    }
    PendingOps pending(ops);
    std::size_t begun = 0;
    while (const std::optional<std::uint32_t> next = pending.next()) {
      pending.begin_next();
      pending.end(*next);
      ++begun;
    }
    if (begun < ops.size()) {
      throw InputError(fmt::format("{}: rank {}: {} operations wait for each other in a circle",
                                   origin, rank, ops.size() - begun));
    }
  }
}

RankProgram replay_of(const Schedule& schedule) {
  return [&schedule](Communicator& comm) {
    return replay_rank(comm, schedule[static_cast<std::size_t>(comm.rank().value())]);
  };
}

}  // namespace thinwire::schedules
