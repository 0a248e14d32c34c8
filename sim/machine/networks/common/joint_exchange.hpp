// An exchange of all ranks at once. Ranks that have posted nothing else join it, and wait. When all
// have joined, nothing but the messages of the exchange can share a port before its owner has taken
// all its steps. So the steps of all ranks are taken here, in the order of time, without mailboxes,
// transfers, windows of events and strands that run between them. The ranks then run on, each from its
// own time.
//
// Messages share as they do in the loop (shared_links_loop.hpp): those that have begun share the two
// ports of their ranks fairly (fair_links.hpp). Each port has one event to come, when it will
// have served its first message; the earliest is the winner of a tournament.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/earliest.hpp"
#include "sim/machine/networks/common/host_rules.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// The exchange that the ranks of a loop come to. A `Poster` is a rank (posting.hpp).
template <class Fabric, class Poster>
class JointExchange {
 public:
  /// Both outlive it.
  JointExchange(const UnderWay<Fabric>& all, const HostRules<Fabric>& rules)
      : all_(all), rules_(rules), size_(all.size) {}

  /// A rank that comes to an exchange, and what it brings.
  struct Joined {
    Poster* rank;
    ExchangePart* part;
    Tag tag;
    int under_way;
  };
  /// Whether a rank joins. `clear`: nothing else of it is under way. Where one does not, no rank of the
  /// run joins any longer.
  [[nodiscard]] bool joins(const Joined& joining, bool clear) {
    if (stopped_ || size_ == 1) return false;
    const Joined& like = joined_.empty() ? joining : joined_.front();
    stopped_ = !clear || joining.under_way > static_cast<int>(kPlaces) || joining.tag != like.tag ||
               joining.under_way != like.under_way;
    if (!stopped_) joined_.push_back(joining);
    return !stopped_;
  }
  /// Whether all ranks have joined, or some have, but not all will. `more`: there are other events to
  /// wait for.
  [[nodiscard]] bool ends(bool more) const {
    return is_complete() || (!joined_.empty() && (stopped_ || !more));
  }
  /// Takes the steps of all ranks, if all have joined, and calls `leave` for each. Else each rank takes
  /// its own from when it came: calls `go_on` for each, with the time set back to then, since events
  /// have been handled until now, but of none of its ports.
  template <class Leave, class GoOn>
  void end(double& now, const Leave& leave, const GoOn& go_on) {
    stopped_ = !is_complete();
    if (!stopped_) run();
    for (const Joined& joined : std::exchange(joined_, {})) {
      const Rank rank = joined.rank->rank();
      if (!stopped_) {
        tell(of(rank.value()));
        leave(rank);
        continue;
      }
      now = std::min(now, joined.rank->clock());
      joined.rank->post_first_steps(*joined.part, joined.tag, joined.under_way);
      go_on(rank);
    }
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The places of a rank or a port are for steps that are under way: one place, one bit of a mask.
  using Places = std::uint16_t;
  static constexpr std::uint32_t kPlaces = 16;

  /// A rank, its next step to be posted, and the oldest one that is not over.
  struct alignas(64) Member {
    Poster* rank;
    ExchangePart* part;
    double clock;  ///< of the rank, which is told when it leaves
    Words sent_words;
    Words received_words;
    int posted;
    int done;
    Places sent;         ///< steps whose send is complete
    Places half_served;  ///< whose message to this rank has been served by one of its two ports
    Places received;     ///< and by both
  };
  /// A port and what it serves, as in fair_links.hpp: its messages are in the order of their finish,
  /// from `first` on, in a ring.
  struct alignas(64) Port {
    double virtual_time = 0;
    double updated = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::array<std::uint8_t, kPlaces> places = {};  ///< of the messages' steps
    std::array<double, kPlaces> finishes = {};

    [[nodiscard]] double next() const { return finishes[first % kPlaces]; }
  };
  /// A message, and when it was posted; of one that is received, when that was.
  struct alignas(32) Posted {
    Message message;
    double time = 0;
  };
  struct Begin {
    double time;
    int from;
    int step;
    friend bool operator>(const Begin& a, const Begin& b) {
      return std::tie(a.time, a.from, a.step) > std::tie(b.time, b.from, b.step);
    }
  };
  struct Served {
    std::uint32_t port;
    std::uint8_t place;
  };

  [[nodiscard]] bool is_complete() const {
    return joined_.size() == static_cast<std::size_t>(size_);
  }
  /// Takes all steps of all ranks, all of which have joined.
  void run() {
    prepare();
    if (under_way_ == 1) return run_one_by_one();
    for (int rank = 0; rank < size_; ++rank) {
      while (of(rank).posted < std::min(under_way_, size_ - 1)) post(rank);
    }
    while (handle_next()) take_served();
  }
  /// With one step under way a rank is in one step, and no port is shared.
  void run_one_by_one() {
    std::vector<Posted> sent(members_.size());
    for (int step = 0; step < size_ - 1; ++step) {
      for (int rank = 0; rank < size_; ++rank) {
        Member& own = of(rank);
        arriving_[at(rank, 0)].time = own.clock;
        Message message = own.part->outgoing(peers(rank, step).to);
        const double ready = send(own, message.words);
        sent[static_cast<std::size_t>(rank)] = {.message = std::move(message), .time = ready};
      }
      for (int rank = 0; rank < size_; ++rank) {
        const int to = peers(rank, step).to.value();
        Posted& message = sent[static_cast<std::size_t>(rank)];
        const double latency = latency_of(rank, to);
        const double met = arriving_[at(to, 0)].time;
        message.time = rules_.rendezvous(met, message.time, latency) + latency +
                       all_.fabric.uncontended({}, message.message.words);
        if (!std::isfinite(message.time)) throw_time_overflow();
      }
      for (int rank = 0; rank < size_; ++rank) {
        const Rank from = peers(rank, step).from;
        Posted& arrived = sent[static_cast<std::size_t>(from.value())];
        Member& own = of(rank);
        receive(own, arrived.message.words, arrived.time,
                sent[static_cast<std::size_t>(rank)].time);
        work(own, own.part->incoming(from, std::move(arrived.message)));
      }
    }
  }
  [[nodiscard]] double latency_of(int from, int to) const {
    return all_.fabric.latency(Rank(from), Rank(to), {}) + all_.host.latency.value();
  }
  void prepare() {
    const auto ranks = static_cast<std::size_t>(size_);
    under_way_ = joined_.front().under_way;
    members_.assign(ranks, {});
    for (const Joined& joined : joined_) {
      Member& member = of(joined.rank->rank().value());
      member.rank = joined.rank;
      member.part = joined.part;
      member.clock = joined.rank->clock();
    }
    ports_.assign(2 * ranks, {});
    held_.resize(ranks * kPlaces);
    arriving_.resize(ranks * kPlaces);
    now_ = -kNever;
  }

  // What a rank does, as in posting.hpp, without a look at it.

  /// Returns when the message can depart.
  [[nodiscard]] double send(Member& own, Words words) const {
    const double noise = all_.host.noise == Seconds(0) ? 0 : own.rank->noise();
    own.clock += all_.host.processing(words) + noise;
    own.sent_words += words;
    return own.clock;
  }
  void receive(Member& own, Words words, double received, double sent) const {
    own.clock = std::max(own.clock, received) + all_.host.processing(words);
    own.clock = std::max(own.clock, sent);
    own.received_words += words;
  }
  static void work(Member& own, Seconds work) {
    check_work(work);
    own.clock += work.value();
  }
  void tell(const Member& own) const {
    own.rank->goes_on(own.clock, {.messages_sent = size_ - 1,
                                  .messages_received = size_ - 1,
                                  .words_sent = own.sent_words,
                                  .words_received = own.received_words,
                                  .time = {}});
  }

  [[nodiscard]] Member& of(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] static std::size_t at(int rank, int step) {
    return static_cast<std::size_t>(rank) * kPlaces + place_of(step);
  }
  [[nodiscard]] static std::uint32_t place_of(int step) {
    return static_cast<std::uint32_t>(step) % kPlaces;
  }
  [[nodiscard]] static Places bit_of(int step) { return static_cast<Places>(1U << place_of(step)); }
  /// The step of a rank that has a place.
  [[nodiscard]] static int step_at(const Member& member, std::uint32_t place) {
    return member.done + static_cast<int>((place - place_of(member.done)) % kPlaces);
  }
  [[nodiscard]] ExchangePeers peers(int rank, int step) const {
    return peers_in_step(Rank(rank), size_, step);
  }

  /// Posts the receive and the send of a rank's next step.
  void post(int rank) {
    Member& own = of(rank);
    const int step = own.posted++;
    const int to = peers(rank, step).to.value();
    const int from = peers(rank, step).from.value();
    Posted& arriving = arriving_[at(rank, step)];
    arriving.time = own.clock;
    if (of(from).posted > step) {
      Posted& held = held_[at(from, step)];
      arriving.message = std::move(held.message);
      meet(from, rank, step, held.time);
    }
    Message message = own.part->outgoing(Rank(to));
    const double ready = send(own, message.words);
    if (of(to).posted > step) {
      arriving_[at(to, step)].message = std::move(message);
      meet(rank, to, step, ready);
    } else {
      held_[at(rank, step)] = {.message = std::move(message), .time = ready};
    }
    if (own.posted < size_ - 1) prefetch_next(rank, own);
  }
  /// Prefetches what the next step of a rank will read.
  void prefetch_next(int rank, const Member& own) const {
    const int to = peers(rank, own.posted).to.value();
    const int from = peers(rank, own.posted).from.value();
    for (const std::uint32_t port : {send_port(from), send_port(to) + 1}) {
      const char* const lines = reinterpret_cast<const char*>(&ports_[port]);
      for (const int line : {0, 64, 128}) prefetch_line(lines + line);
    }
    prefetch_line(&members_[static_cast<std::size_t>(from)]);
    prefetch_line(&members_[static_cast<std::size_t>(to)]);
    prefetch_line(&held_[at(from, own.posted)]);
    prefetch_line(&arriving_[at(to, own.posted)]);
    prefetch_line(own.part->read_for(Rank(to)));
  }
  /// Both ends of a message are posted: it will begin. It was sent at `sent`.
  void meet(int from, int to, int step, double sent) {
    const Posted& message = arriving_[at(to, step)];
    const double latency = latency_of(from, to);
    const double begin = rules_.rendezvous(message.time, sent, latency) + latency;
    if (!std::isfinite(begin + all_.fabric.uncontended({}, message.message.words))) {
      throw_time_overflow();
    }
    if (begin > now_) {
      begins_.push({.time = begin, .from = from, .step = step});
    } else {
      enter(from, to, step);
    }
  }
  void enter(int from, int to, int step) {
    const double demand = all_.fabric.demand({}, arriving_[at(to, step)].message.words);
    add(send_port(from), place_of(step), demand);
    add(send_port(to) + 1, place_of(step), demand);
  }
  [[nodiscard]] static std::uint32_t send_port(int rank) {
    return 2 * static_cast<std::uint32_t>(rank);
  }

  void add(std::uint32_t number, std::uint32_t place, double demand) {
    update(number);
    Port& port = ports_[number];
    const double finish = port.virtual_time + demand;
    // Most finish behind all others.
    std::uint32_t position = port.first + port.count++;
    for (; position != port.first; --position) {
      const std::uint32_t before = (position - 1) % kPlaces;
      if (port.finishes[before] <= finish) break;
      port.finishes[position % kPlaces] = port.finishes[before];
      port.places[position % kPlaces] = port.places[before];
    }
    port.finishes[position % kPlaces] = finish;
    port.places[position % kPlaces] = static_cast<std::uint8_t>(place);
    schedule(number);
  }
  /// Advances a port's virtual time to now, and takes out the messages that have finished by then.
  void update(std::uint32_t number) {
    Port& port = ports_[number];
    const double rounding = 1e-15 * now_;  // the event's time was computed from the same figures
    double passed = now_ - std::exchange(port.updated, now_);
    while (port.count > 0) {
      const double needed = (port.next() - port.virtual_time) * port.count;
      if (needed > passed + rounding) {
        port.virtual_time += std::max(passed, 0.0) / port.count;
        return;
      }
      passed -= needed;
      port.virtual_time = port.next();
      served_.push_back({.port = number, .place = port.places[port.first % kPlaces]});
      ++port.first;
      --port.count;
    }
    port.virtual_time = 0;
  }
  void schedule(std::uint32_t number) {
    const Port& port = ports_[number];
    earliest_.set(number, port.count == 0
                              ? kNever
                              : port.updated + (port.next() - port.virtual_time) * port.count);
  }

  /// Handles the next event: a message begins, or a port has served one. Returns whether there is one.
  bool handle_next() {
    const double served = earliest_.time();
    if (!begins_.empty() && begins_.top().time <= served) {
      const Begin begin = begins_.top();
      begins_.pop();
      now_ = begin.time;
      enter(begin.from, peers(begin.from, begin.step).to.value(), begin.step);
      return true;
    }
    if (served == kNever) return false;
    now_ = served;
    const std::uint32_t port = earliest_.player();
    update(port);
    schedule(port);
    return true;
  }
  /// Completes the messages that both their ports have served.
  void take_served() {
    while (!served_.empty()) {
      const Served served = served_.back();
      served_.pop_back();
      const int rank = static_cast<int>(served.port / 2);
      const int step = step_at(of(rank), served.place);
      const bool sends = served.port % 2 == 0;
      const int from = sends ? rank : peers(rank, step).from.value();
      const int to = sends ? peers(rank, step).to.value() : rank;
      Member& receiver = of(to);
      const Places bit = bit_of(step);
      receiver.half_served ^= bit;
      if ((receiver.half_served & bit) != 0) continue;
      receiver.received |= bit;
      of(from).sent |= bit;
      arriving_[at(to, step)].time = now_;
      take_steps(from);
      take_steps(to);
    }
  }
  /// A rank takes the steps that are over, in their order, and posts as many. If that is not due to the
  /// end of a send now, the rank's clock is no earlier than now anyway.
  void take_steps(int rank) {
    Member& own = of(rank);
    while (own.done < own.posted) {
      const Places bit = bit_of(own.done);
      if ((own.sent & own.received & bit) == 0) return;
      own.sent ^= bit;
      own.received ^= bit;
      Posted& arrived = arriving_[at(rank, own.done)];
      receive(own, arrived.message.words, arrived.time, now_);
      const Message message = std::move(arrived.message);
      const Rank from = peers(rank, own.done++).from;
      const bool more = own.posted < size_ - 1;
      if (more && under_way_ > 1) post(rank);
      work(own, own.part->incoming(from, message));
      if (more && under_way_ == 1) post(rank);
    }
  }

  const UnderWay<Fabric>& all_;
  const HostRules<Fabric>& rules_;
  int size_;
  bool stopped_ = false;  ///< no rank joins
  int under_way_ = 0;
  double now_ = 0;
  std::vector<Joined> joined_;
  std::vector<Member> members_;   ///< by rank
  std::vector<Port> ports_;       ///< of rank r to send: 2r, to receive: 2r + 1
  std::vector<Posted> held_;      ///< what rank r sends in a step that its receiver has not posted
  std::vector<Posted> arriving_;  ///< what it receives: kPlaces for each rank
  Earliest earliest_{2 * static_cast<std::size_t>(size_)};
  std::priority_queue<Begin, std::vector<Begin>, std::greater<>> begins_;
  std::vector<Served> served_;
};

}  // namespace thinwire::networks
