// A rank that has posted nothing else, and waits for a send and a receive together, can post nothing
// before both have ended. Where its peers wait in the same way, the ends of their messages follow as
// soon as both ends are posted, without slots, mailboxes and transfers. What finds no such peer is
// posted as any other message when no strand can run, as if it had been from the start: it has no
// rank whose program ran meanwhile.
#pragma once

#include <algorithm>
#include <cmath>
#include <coroutine>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "sim/core/kernel/message.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/host_rules.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// The sends and receives that the ranks of a loop, each a `Poster` (posting.hpp), wait for together.
template <class Fabric, class Poster>
class PairedPosts {
 public:
  using Both = typename Poster::BothPosts;

  /// All outlive it.
  PairedPosts(const UnderWay<Fabric>& all, const HostRules<Fabric>& rules, EventLoop& loop)
      : all_(all), rules_(rules), loop_(loop) {
    if constexpr (Fabric::kOnlyPorts) pairs_.resize(static_cast<std::size_t>(all.size));
  }

  /// Posts both for a rank that has posted nothing else.
  void post(Poster& rank, Both& both, Rank to, Message&& message, Rank from, Tag tag) {
    Pair& own = of(rank.rank());
    own.rank = &rank;
    own.both = &both;
    own.to = to;
    own.from = from;
    own.tag = tag;
    own.posted = rank.clock();
    own.ready = rank.sends(message.words);
    own.message = std::move(message);
    own.sent = kPending;
    own.received = kPending;
    both.paired = true;
    meet(own, of(to), rank);
    if (own.both != nullptr) meet(of(from), own, rank);
  }
  void park(Poster& rank, std::coroutine_handle<> waiting) {
    Pair& own = of(rank.rank());
    own.waiting = waiting;
    rank.park_idle(waiting);
    if (!std::exchange(own.listed, true)) parked_.push_back(rank.rank());
  }
  /// To be called when no strand can run.
  void post_unpaired() {
    for (const Rank rank : parked_) {
      Pair& pair = of(rank);
      pair.listed = false;
      if (pair.both == nullptr) continue;
      Both& both = *std::exchange(pair.both, nullptr);
      both.paired = false;
      both.requests[1] = pair.received == kPending
                             ? pair.rank->receive_since(pair.posted, pair.from, pair.tag)
                             : pair.rank->received_at(pair.received, pair.from, pair.tag,
                                                      std::move(both.received));
      both.requests[0] =
          pair.rank->send_since(pair.ready, pair.sent, pair.to, pair.tag, std::move(pair.message));
      pair.rank->park_both(both, pair.waiting);
    }
    parked_.clear();
  }

 private:
  static constexpr double kPending = std::numeric_limits<double>::infinity();

  /// What a rank sends and receives, and what it was last.
  struct alignas(128) Pair {
    Poster* rank = nullptr;
    Both* both = nullptr;  ///< null if it is complete
    double posted = 0;     ///< when the receive was posted
    double ready = 0;      ///< and when the message can depart
    double sent = 0;       ///< when the send is complete
    double received = 0;   ///< and the receive
    Rank to;
    Rank from;
    Tag tag;
    bool listed = false;  ///< in parked_
    Message message;      ///< until it meets its receive
    std::coroutine_handle<> waiting;
  };

  [[nodiscard]] Pair& of(Rank rank) { return pairs_[static_cast<std::size_t>(rank.value())]; }

  /// If the message of a pair is what the other waits for, both ends are posted. `poster` posts one of
  /// them, and runs.
  void meet(Pair& sender, Pair& receiver, const Poster& poster) {
    if (sender.both == nullptr || receiver.both == nullptr || sender.tag != receiver.tag) return;
    if (sender.to != receiver.rank->rank() || receiver.from != sender.rank->rank()) return;
    if (sender.sent != kPending || receiver.received != kPending) return;
    const Words words = sender.message.words;
    const double latency =
        all_.fabric.latency(sender.rank->rank(), sender.to, {}) + all_.host.latency.value();
    const double begin = rules_.rendezvous(receiver.posted, sender.ready, latency) + latency;
    const double end = begin + all_.fabric.uncontended({}, words);
    if (!std::isfinite(end)) throw_time_overflow();
    sender.sent = end;
    receiver.received = end;
    receiver.both->received = std::move(sender.message);
    complete(sender, poster);
    if (&sender != &receiver) complete(receiver, poster);
  }
  void complete(Pair& pair, const Poster& poster) {
    const double last = std::max(pair.sent, pair.received);
    if (last == kPending) return;
    Both& both = *std::exchange(pair.both, nullptr);
    both.complete = true;
    pair.rank->takes_both(both.received.words, last);
    if (pair.rank != &poster) loop_.resume_main(pair.rank->rank());
  }

  const UnderWay<Fabric>& all_;
  const HostRules<Fabric>& rules_;
  EventLoop& loop_;
  std::vector<Pair> pairs_;   ///< by rank
  std::vector<Rank> parked_;  ///< ranks that wait, or have waited, for a pair
};

}  // namespace thinwire::networks
