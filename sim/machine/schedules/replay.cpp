#include "sim/machine/schedules/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/group.hpp"
#include "sim/machine/schedules/pending_ops.hpp"

namespace thinwire::schedules {

namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;

/// The operations of a rank that have begun and not ended.
class OpsInFlight {
 public:
  explicit OpsInFlight(std::size_t ops) : at_(ops, kNowhere) {}

  void add(std::uint32_t op, Request request) {
    at_[op] = static_cast<std::uint32_t>(ops_.size());
    ops_.push_back(op);
    requests_.push_back(request);
  }
  void remove(std::uint32_t op) {
    const std::uint32_t at = at_[op];
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
  std::vector<std::uint32_t> at_;  ///< by operation: its position below
  std::vector<std::uint32_t> ops_;
  std::vector<Request> requests_;
};

/// Whether messages or work are on several processors.
bool has_processors(const RankSchedule& ops) {
  return std::ranges::any_of(
      ops, [&](const ScheduleOp& op) { return op.processor != ops[0].processor; });
}

/// Processors, and the work that they do.
using BusyProcessors = std::vector<std::pair<int, std::uint32_t>>;

/// What has to end before anything else can begin; nothing if any of what is under way will do.
void find_wanted(const RankSchedule& ops, const PendingOps& pending, const OpsInFlight& flying,
                 const BusyProcessors& busy, std::vector<std::uint32_t>& wanted) {
  wanted.clear();
  if (pending.heads() == 0) {
    wanted = flying.ops();
    std::ranges::sort(wanted);
  } else if (pending.heads() == 1) {
    for (const std::uint32_t before : ops.after_end().of(pending.head())) {
      if (flying.has(before)) wanted.push_back(before);
    }
    for (const auto& [processor, work] : busy) {
      if (processor == ops[pending.head()].processor &&
          std::ranges::find(wanted, work) == wanted.end()) {
        wanted.push_back(work);
      }
    }
  }
}

/// The collective that an operation is; null if it is none.
const CollectiveCall* call_of(const ReadSchedule& schedule, std::size_t rank, std::uint32_t op) {
  if (schedule.collectives.empty()) return nullptr;
  const auto found = schedule.collectives[rank].find(op);
  return found == schedule.collectives[rank].end() ? nullptr : &found->second;
}

/// The program of a collective on the second strand.
Task<void> run_collective(Communicator& strand, const CollectiveCall& call,
                          const RunCollective& run) {
  Group group(strand, call.members);
  co_await run(group, call);
}

/// Posts a message, or starts a collective.
Request posted(Communicator& comm, const ScheduleOp& op, const CollectiveCall* call,
               const ReplayWishes& wishes) {
  if (call != nullptr) {
    return comm.start([call, &wishes](Communicator& strand) {
      return run_collective(strand, *call, wishes.collective);
    });
  }
  if (op.kind == ScheduleOpKind::receive) return comm.irecv(op.peer, op.tag);
  return comm.isend(op.peer, op.tag, {.payload = {}, .words = op.words});
}

/// Whether the schedule does not wait for a send that the network does not know as eager.
bool is_loose(const ScheduleOp& op, const ReplayWishes& wishes) {
  return op.kind == ScheduleOpKind::send && wishes.eager_here > Bytes(0) &&
         to_bytes(op.words) <= wishes.eager_here;
}

/// A rank of a schedule, and what it has under way.
struct RankReplay {
  RankReplay(Communicator& its_comm, const ReadSchedule& of, const ReplayWishes& its_wishes)
      : comm(its_comm),
        schedule(of),
        wishes(its_wishes),
        rank(static_cast<std::size_t>(its_comm.rank().value())),
        ops(of.ops[rank]),
        flying(ops.size()) {}

  /// Whether an operation is local work.
  [[nodiscard]] bool is_work(std::uint32_t op) const {
    return ops[op].kind == ScheduleOpKind::work && call_of(schedule, rank, op) == nullptr;
  }
  /// Posts a message or starts a collective. Returns whether it has ended for the schedule.
  bool post(std::uint32_t op) {
    const Request request = posted(comm, ops[op], call_of(schedule, rank, op), wishes);
    const bool ended = is_loose(ops[op], wishes);
    if (ended) {
      loose.push_back(request);
    } else {
      flying.add(op, request);
    }
    return ended;
  }
  /// An operation has ended, with the message that it received.
  void end(std::uint32_t op, const Message& message) {
    flying.remove(op);
    if (ops[op].kind != ScheduleOpKind::receive || message.words <= ops[op].words) return;
    throw SimulationError("{}: {}: a receive of {} bytes gets a message of {} bytes",
                          schedule.origin, schedule.place_of(rank, op),
                          to_bytes(ops[op].words).value(), to_bytes(message.words).value());
  }

  Communicator& comm;
  const ReadSchedule& schedule;
  const ReplayWishes& wishes;
  std::size_t rank;
  const RankSchedule& ops;
  OpsInFlight flying;
  std::vector<Request> loose;
};

Task<void> replay_in_any_order(RankReplay& replay) {
  const RankSchedule& ops = replay.ops;
  OpsInFlight& flying = replay.flying;
  PendingOps pending(ops);
  const bool several = has_processors(ops);
  BusyProcessors busy;
  std::vector<std::uint32_t> wanted;
  std::vector<std::uint32_t> aside;  // may begin, but for a busy processor
  const auto is_busy = [&](int processor) {
    return std::ranges::find(busy, processor, &std::pair<int, std::uint32_t>::first) != busy.end();
  };
  const auto end = [&](std::uint32_t op, const Message& message) {
    replay.end(op, message);
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
      if (!replay.is_work(*next)) {
        if (replay.post(*next)) pending.end(*next);
      } else if (!several || op.work == Seconds(0)) {
        co_await replay.comm.compute(op.work);
        pending.end(*next);
      } else {
        flying.add(*next, replay.comm.start_work(op.work));
        busy.emplace_back(op.processor, *next);
      }
    }
    if (flying.ops().empty()) break;
    find_wanted(ops, pending, flying, busy, wanted);
    if (wanted.empty()) {
      const auto first = co_await replay.comm.wait_any(flying.requests());
      end(flying.ops()[first.position], first.message);
      continue;
    }
    for (const std::uint32_t op : wanted) {
      const Message message = co_await replay.comm.wait(flying.request_of(op));
      end(op, message);
    }
  }
}

/// Whether each operation waits for the begin of the one before it, and all are of one processor: then
/// it is known which begins next.
bool is_in_order(const RankSchedule& ops) {
  for (std::uint32_t op = 1; op < ops.size(); ++op) {
    const std::span<const std::uint32_t> before = ops.after_begin().of(op);
    if (std::ranges::find(before, op - 1) == before.end()) return false;
  }
  return !has_processors(ops);
}

/// The same as replay_in_any_order() for such a rank, without looking for what may begin.
Task<void> replay_in_order(RankReplay& replay) {
  const RankSchedule& ops = replay.ops;
  OpsInFlight& flying = replay.flying;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    for (const std::uint32_t before : ops.after_end().of(op)) {
      if (!flying.has(before)) continue;
      const Message message = co_await replay.comm.wait(flying.request_of(before));
      replay.end(before, message);
    }
    if (replay.is_work(op)) {
      co_await replay.comm.compute(ops[op].work);
    } else {
      replay.post(op);
    }
  }
  std::vector<std::uint32_t> left = flying.ops();
  std::ranges::sort(left);
  for (const std::uint32_t op : left) {
    const Message message = co_await replay.comm.wait(flying.request_of(op));
    replay.end(op, message);
  }
}

Task<void> replay_rank(Communicator& comm, const ReadSchedule& schedule,
                       const ReplayWishes& wishes) {
  RankReplay replay(comm, schedule, wishes);
  if (is_in_order(replay.ops)) {
    co_await replay_in_order(replay);
  } else {
    co_await replay_in_any_order(replay);
  }
  for (const Request& request : replay.loose) co_await comm.wait(request);
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

std::string ReadSchedule::place_of(std::size_t rank, std::size_t op) const {
  return fmt::format("rank {}, {} {}", rank, place, places.empty() ? op + 1 : places[rank][op]);
}

void check_schedule(const ReadSchedule& schedule) {
  std::int64_t words = 0;
  const std::size_t ranks = schedule.ops.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const RankSchedule& ops = schedule.ops[rank];
    const auto refuse = [&](std::size_t op, const std::string& what) {
      throw InputError("{}: {}: {}", schedule.origin, schedule.place_of(rank, op), what);
    };
    bool in_order = true;  // each waits for earlier ones: there is no circle
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const int peer = ops[i].peer.value();
      if (ops[i].kind != ScheduleOpKind::work &&
          (peer < 0 || static_cast<std::size_t>(peer) >= ranks)) {
        refuse(i, fmt::format("the peer {} is no rank; ranks are 0 to {}", peer, ranks - 1));
      }
      if (ops[i].kind == ScheduleOpKind::send) words += ops[i].words.value();
      if (words > kLargestSize / 4) {
        refuse(i, fmt::format("up to here the messages have more than {} bytes", kLargestSize));
      }
      for (const OpLists* before : {&ops.after_end(), &ops.after_begin()}) {
        for (const std::uint32_t op : before->of(i)) {
          if (op >= ops.size()) refuse(i, "it waits for an operation that does not exist");
          in_order = in_order && op < i;
        }
      }
    }
    if (in_order) continue;
    PendingOps pending(ops);
    std::vector<bool> begun(ops.size());
    std::size_t count = 0;
    while (const std::optional<std::uint32_t> next = pending.next()) {
      begun[*next] = true;
      pending.begin_next();
      pending.end(*next);
      ++count;
    }
    if (count < ops.size()) {
      const auto first = std::ranges::find(begun, false) - begun.begin();
      refuse(static_cast<std::size_t>(first),
             fmt::format("{} operations of the rank wait for each other in a circle",
                         ops.size() - count));
    }
  }
}

RankProgram replay_of(const ReadSchedule& schedule, ReplayWishes wishes) {
  const auto kept = std::make_shared<const ReplayWishes>(std::move(wishes));
  return [&schedule, kept](Communicator& comm) { return replay_rank(comm, schedule, *kept); };
}

}  // namespace thinwire::schedules
