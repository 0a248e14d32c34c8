// Follows a schedule without a clock, to find operations that wait for each other.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/machine/schedules/pending_ops.hpp"
#include "sim/machine/schedules/replay.hpp"

namespace thinwire::schedules {

namespace {

/// An operation of a rank.
struct OpOfRank {
  std::size_t rank = 0;
  std::uint32_t op = 0;
  auto operator<=>(const OpOfRank&) const = default;
};

class Untimed {
 public:
  Untimed(const ReadSchedule& schedule, Bytes eager)
      : schedule_(schedule), eager_(eager), waiting_(schedule.ops.size()) {
    for (const RankSchedule& ops : schedule.ops) {
      pending_.emplace_back(ops);
      begun_.emplace_back(ops.size());
      ended_.emplace_back(ops.size());
    }
    for (std::size_t rank = 0; rank < schedule.ops.size(); ++rank) active_.push_back(rank);
  }

  void run() {
    while (!active_.empty()) {
      const std::size_t rank = active_.back();
      active_.pop_back();
      while (const std::optional<std::uint32_t> next = pending_[rank].next()) {
        pending_[rank].begin_next();
        begin({rank, *next});
      }
    }
    for (std::size_t rank = 0; rank < ended_.size(); ++rank) {
      for (std::uint32_t op = 0; op < ended_[rank].size(); ++op) {
        if (begun_[rank][op] && !ended_[rank][op]) refuse({rank, op});
      }
    }
  }

 private:
  /// A channel to a receiver: sender and tag.
  using Channel = std::uint64_t;
  /// Sends that wait for their receives, or receives that wait for their sends, in order.
  struct Waiting {
    std::vector<OpOfRank> all;
    std::size_t first = 0;
    bool sends = false;
  };

  [[nodiscard]] const ScheduleOp& op_at(const OpOfRank& at) const {
    return schedule_.ops[at.rank][at.op];
  }
  [[nodiscard]] std::size_t receiver_of(const OpOfRank& at) const {
    const ScheduleOp& op = op_at(at);
    return op.kind == ScheduleOpKind::send ? static_cast<std::size_t>(op.peer.value()) : at.rank;
  }
  [[nodiscard]] Channel channel_of(const OpOfRank& at) const {
    const ScheduleOp& op = op_at(at);
    const bool sends = op.kind == ScheduleOpKind::send;
    const auto sender = sends ? at.rank : static_cast<std::size_t>(op.peer.value());
    return (static_cast<Channel>(sender) << 32) | static_cast<std::uint32_t>(op.tag.value());
  }
  [[nodiscard]] bool is_eager(const OpOfRank& at) const {
    return eager_ > Bytes(0) && to_bytes(op_at(at).words) <= eager_;
  }

  void begin(const OpOfRank& at) {
    begun_[at.rank][at.op] = true;
    const ScheduleOpKind kind = op_at(at).kind;
    if (kind == ScheduleOpKind::work) {
      end(at);
      return;
    }
    Waiting& waiting = waiting_[receiver_of(at)][channel_of(at)];
    const bool sends = kind == ScheduleOpKind::send;
    if (sends && is_eager(at)) end(at);
    if (waiting.first == waiting.all.size() || waiting.sends == sends) {
      if (waiting.first == waiting.all.size()) waiting = {};
      waiting.sends = sends;
      waiting.all.push_back(at);
      return;
    }
    const OpOfRank other = waiting.all[waiting.first++];
    const OpOfRank& send = sends ? at : other;
    const OpOfRank& receive = sends ? other : at;
    check_sizes(send, receive);
    end(receive);
    if (!is_eager(send)) end(send);
  }

  void end(const OpOfRank& at) {
    ended_[at.rank][at.op] = true;
    pending_[at.rank].end(at.op);
    active_.push_back(at.rank);
  }

  /// A receive has room for what is sent, or more, as the buffers of MPI.
  void check_sizes(const OpOfRank& send, const OpOfRank& receive) const {
    const Bytes sent = to_bytes(op_at(send).words);
    const Bytes room = to_bytes(op_at(receive).words);
    if (sent <= room) return;
    throw InputError("{}: {}: a receive of {} bytes gets the message of {} bytes of {}",
                     schedule_.origin, schedule_.place_of(receive.rank, receive.op), room.value(),
                     sent.value(), schedule_.place_of(send.rank, send.op));
  }

  /// An operation of the rank that has begun, has not ended, and has to end before `op` begins.
  [[nodiscard]] std::optional<OpOfRank> blocks(const OpOfRank& at) const {
    std::vector<std::uint32_t> open{at.op};
    std::vector<bool> seen(schedule_.ops[at.rank].size());
    while (!open.empty()) {
      const std::uint32_t op = open.back();
      open.pop_back();
      if (seen[op]) continue;
      seen[op] = true;
      const RankSchedule& ops = schedule_.ops[at.rank];
      for (const std::uint32_t before : ops.after_end().of(op)) {
        if (ended_[at.rank][before]) continue;
        if (begun_[at.rank][before]) return OpOfRank{at.rank, before};
        open.push_back(before);
      }
      for (const std::uint32_t before : ops.after_begin().of(op)) {
        if (!begun_[at.rank][before]) open.push_back(before);
      }
    }
    return std::nullopt;
  }

  /// The operation of the peer that a message waits for; nothing if there is none.
  [[nodiscard]] std::optional<OpOfRank> partner(const OpOfRank& at) const {
    const ScheduleOp& op = op_at(at);
    const auto peer = static_cast<std::size_t>(op.peer.value());
    const Channel channel = channel_of(at);
    const std::size_t receiver = receiver_of(at);
    const auto kind =
        op.kind == ScheduleOpKind::send ? ScheduleOpKind::receive : ScheduleOpKind::send;
    const RankSchedule& ops = schedule_.ops[peer];
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops[i].kind == kind && !begun_[peer][i] && receiver_of({peer, i}) == receiver &&
          channel_of({peer, i}) == channel) {
        return OpOfRank{peer, i};
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string text_of(const OpOfRank& at) const {
    const ScheduleOp& op = op_at(at);
    const bool sends = op.kind == ScheduleOpKind::send;
    return fmt::format("{}, a {} of {} bytes {} rank {}", schedule_.place_of(at.rank, at.op),
                       sends ? "send" : "receive", to_bytes(op.words).value(),
                       sends ? "to" : "from", op.peer.value());
  }

  [[noreturn]] void refuse(OpOfRank at) const {
    std::vector<OpOfRank> chain{at};
    Bytes needed{0};
    while (true) {
      const OpOfRank now = chain.back();
      const std::optional<OpOfRank> other = partner(now);
      if (!other) {
        throw DeadlockError("{}: {}: no {} of rank {} answers it", schedule_.origin, text_of(now),
                            op_at(now).kind == ScheduleOpKind::send ? "receive" : "send",
                            op_at(now).peer.value());
      }
      if (op_at(now).kind == ScheduleOpKind::send) {
        needed = std::max(needed, to_bytes(op_at(now).words));
      }
      const std::optional<OpOfRank> before = blocks(*other);
      if (!before) break;
      const bool known = std::ranges::find(chain, *before) != chain.end();
      chain.push_back(*before);
      if (known) break;
    }
    const OpOfRank& first = chain.front();
    const OpOfRank& second = chain[chain.size() > 1 ? 1 : 0];
    std::string text =
        fmt::format("{}: deadlock: {}, and {}, wait for each other{}", schedule_.origin,
                    text_of(first), text_of(second), chain.size() > 3 ? " over other ranks" : "");
    if (needed > Bytes(0)) {
      text += fmt::format(
          "; sends of up to {} bytes do not wait for their receives here: --eager {} lets these "
          "pass",
          eager_.value(), needed.value());
    }
    throw DeadlockError(text);
  }

  const ReadSchedule& schedule_;
  Bytes eager_;
  std::vector<PendingOps> pending_;
  std::vector<std::vector<bool>> begun_;
  std::vector<std::vector<bool>> ended_;
  std::vector<std::size_t> active_;
  std::vector<std::unordered_map<Channel, Waiting>> waiting_;  ///< by receiver
};

}  // namespace

void check_progress(const ReadSchedule& schedule, Bytes eager) { Untimed(schedule, eager).run(); }

}  // namespace thinwire::schedules
