#include "tests/machine/networks/time_driven.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <span>
#include <stdexcept>
#include <utility>

#include "tests/support/bodies.hpp"

namespace thinwire::test {

namespace {

struct Event {
  enum class Kind { wake, begin };

  double time;
  Kind kind;
  std::size_t who;  // of a wake the strand: P + r is the second one of r; otherwise the message
  std::uint64_t number;  // in the order of making
};

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

struct Posted {
  bool is_receive = false;
  bool done = false;
  double done_at = 0;
  std::int64_t words = 0;
};

/// A request of a strand.
struct RequestOf {
  std::size_t strand;
  std::size_t number;
};

struct Sent {
  RequestOf send;
  RequestOf receive;
  int from;  // the ranks
  int to;
  std::int64_t words;
  double posted;
  std::array<double, 2> left;  // seconds of service: at the send port, at the receive port
};

struct AwaitedMessage {
  std::size_t request;
  double posted;
};

struct Started {
  const Script* script;
  double time;
  std::size_t request;  // of the rank
};

struct StrandState {
  const Script* script = nullptr;
  std::size_t next = 0;
  double clock = 0;
  bool blocked = false;
  std::deque<Started> started;  // of a second strand; the first is under way if there is a script
  std::vector<Posted> requests;
  std::map<std::pair<int, int>, std::deque<AwaitedMessage>> expected;
  std::map<std::pair<int, int>, std::deque<std::size_t>> early;  // messages
};

class TimeDriven {
 public:
  TimeDriven(const std::vector<Script>& scripts, const networks::LogGP& machine)
      : machine_(machine),
        ranks_(scripts.size()),
        strands_(2 * scripts.size()),
        histories_(2 * scripts.size()) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) strands_[rank].script = &scripts[rank];
  }

  std::vector<History> run() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) wake(rank, 0);
    while (!events_.empty() || !served_.empty()) {
      if (serve_until_next()) continue;
      const Event event = events_.top();
      events_.pop();
      now_ = std::max(now_, event.time);
      if (event.kind == Event::Kind::begin) {
        served_.push_back(event.who);
      } else {
        go_on(event.who);
      }
    }
    for (const StrandState& strand : strands_) {
      const bool ended = strand.script == nullptr || strand.next == strand.script->size();
      if (!ended || !strand.started.empty()) throw std::logic_error("script is stuck");
    }
    return histories_;
  }

 private:
  /// Serves the messages at all ports until one of them is done somewhere, unless an event comes
  /// first; then until that event. Returns whether a port has finished with a message.
  bool serve_until_next() {
    std::vector<std::array<int, 2>> busy(ranks_);  // messages at the ports of a rank
    for (const std::size_t index : served_) {
      for (const std::size_t side : {0U, 1U}) {
        if (sent_[index].left[side] > 0) ++busy[port(index, side)][side];
      }
    }
    const double until = events_.empty() ? HUGE_VAL : events_.top().time - now_;
    double step = until;
    for (const std::size_t index : served_) {
      for (const std::size_t side : {0U, 1U}) {
        const double left = sent_[index].left[side];
        if (left > 0) step = std::min(step, left * busy[port(index, side)][side]);
      }
    }
    const bool any_done = std::ranges::any_of(served_, [&](std::size_t index) {
      return sent_[index].left == std::array{0.0, 0.0};
    });
    if (any_done) step = 0;
    if (step == HUGE_VAL) return false;
    step = std::max(step, 0.0);
    now_ += step;
    std::vector<std::size_t> done;
    bool one_less = false;
    for (const std::size_t index : served_) {
      Sent& sent = sent_[index];
      for (const std::size_t side : {0U, 1U}) {
        if (sent.left[side] == 0) continue;
        sent.left[side] -= step / busy[port(index, side)][side];
        if (sent.left[side] > 1e-13 * occupancy(sent.words)) continue;
        sent.left[side] = 0;
        one_less = true;
      }
      if (sent.left == std::array{0.0, 0.0}) done.push_back(index);
    }
    for (const std::size_t index : done) std::erase(served_, index);
    for (const std::size_t index : done) deliver(sent_[index]);
    return one_less || !done.empty();
  }
  [[nodiscard]] std::size_t port(std::size_t index, std::size_t side) const {
    return static_cast<std::size_t>(side == 0 ? sent_[index].from : sent_[index].to);
  }

  void deliver(const Sent& sent) {
    finish(sent.send, 0);
    finish(sent.receive, sent.words);
    for (const std::size_t strand : {sent.send.strand, sent.receive.strand}) {
      if (strands_[strand].blocked) go_on(strand);
    }
  }
  void finish(const RequestOf& request, std::int64_t words) {
    Posted& posted = strands_[request.strand].requests[request.number];
    posted.done = true;
    posted.done_at = now_;
    posted.words = words;
  }

  [[nodiscard]] double occupancy(std::int64_t words) const {
    return machine_.gap.value() + machine_.gap_per_word.value() * static_cast<double>(words);
  }
  [[nodiscard]] bool is_second(std::size_t strand) const { return strand >= ranks_; }

  void wake(std::size_t strand, double time) {
    events_.push({.time = time, .kind = Event::Kind::wake, .who = strand, .number = ++made_});
  }

  /// The script of a strand, as far as it goes now.
  void go_on(std::size_t strand) {
    StrandState& state = strands_[strand];
    state.blocked = false;
    while (has_script(strand)) {
      const Script& script = *state.script;
      while (state.next < script.size()) {
        if (state.clock > now_) return wake(strand, state.clock);
        if (!perform(strand, script[state.next])) return;
        histories_[strand].clocks.push_back(state.clock);
        ++state.next;
      }
      if (!is_second(strand)) return;
      if (state.clock > now_) return wake(strand, state.clock);
      state.script = nullptr;
      const Started ended = state.started.front();
      state.started.pop_front();
      Posted& request = strands_[strand - ranks_].requests[ended.request];
      request.done = true;
      request.done_at = state.clock;
      if (strands_[strand - ranks_].blocked) go_on(strand - ranks_);
    }
  }

  /// A second strand takes up what was started next.
  bool has_script(std::size_t strand) {
    StrandState& state = strands_[strand];
    if (state.script == nullptr && !state.started.empty()) {
      state.script = state.started.front().script;
      state.clock = std::max(state.clock, state.started.front().time);
      state.next = 0;
      state.requests.clear();
    }
    return state.script != nullptr;
  }

  /// False where the strand has to come back to it, by an event or by a message.
  bool perform(std::size_t strand, const Operation& operation) {
    StrandState& state = strands_[strand];
    const RequestOf request{strand, state.requests.size()};
    const int rank = static_cast<int>(strand % ranks_);
    switch (operation.kind) {
      case Operation::Kind::compute:
        state.clock += operation.seconds;
        return true;
      case Operation::Kind::send: {
        state.clock += machine_.overhead.value();
        state.requests.push_back({});
        const std::size_t index = sent_.size();
        const double all = occupancy(operation.words);
        sent_.push_back({.send = request,
                         .receive = {},
                         .from = rank,
                         .to = operation.peer,
                         .words = operation.words,
                         .posted = state.clock,
                         .left = {all, all}});
        const std::size_t to =
            static_cast<std::size_t>(operation.peer) + (is_second(strand) ? ranks_ : 0);
        auto& expected = strands_[to].expected[{rank, operation.tag}];
        if (expected.empty()) {
          strands_[to].early[{rank, operation.tag}].push_back(index);
        } else {
          begin(index, {to, expected.front().request}, expected.front().posted);
          expected.pop_front();
        }
        return true;
      }
      case Operation::Kind::receive: {
        state.requests.push_back({.is_receive = true});
        auto& early = state.early[{operation.peer, operation.tag}];
        if (early.empty()) {
          state.expected[{operation.peer, operation.tag}].push_back({request.number, state.clock});
        } else {
          begin(early.front(), request, state.clock);
          early.pop_front();
        }
        return true;
      }
      case Operation::Kind::start: {
        StrandState& second = strands_[strand + ranks_];
        const bool idle = second.started.empty();
        second.started.push_back({&operation.program, state.clock, request.number});
        state.requests.push_back({});
        if (idle) wake(strand + ranks_, state.clock);
        return true;
      }
      case Operation::Kind::wait_all:
        return wait(strand, operation.requests);
    }
    return false;
  }

  /// A message and its receive, which was posted at `posted`, have met.
  void begin(std::size_t index, const RequestOf& receive, double posted) {
    sent_[index].receive = receive;
    events_.push({.time = std::max(sent_[index].posted, posted) + machine_.latency.value(),
                  .kind = Event::Kind::begin,
                  .who = index,
                  .number = ++made_});
  }

  bool wait(std::size_t strand, std::span<const std::size_t> requests) {
    StrandState& state = strands_[strand];
    double done = state.clock;
    for (const std::size_t request : requests) {
      if (!state.requests[request].done) {
        state.blocked = true;
        return false;
      }
      done = std::max(done, state.requests[request].done_at);
    }
    if (done > now_) {
      wake(strand, done);
      return false;
    }
    state.clock = done;
    for (const std::size_t request : requests) {
      if (!state.requests[request].is_receive) continue;
      state.clock += machine_.overhead.value();
      histories_[strand].words.push_back(state.requests[request].words);
    }
    return true;
  }

  const networks::LogGP& machine_;
  std::size_t ranks_;
  double now_ = 0;
  std::vector<StrandState> strands_;  // the ranks, and then their second strands
  std::vector<History> histories_;
  std::vector<Sent> sent_;
  std::vector<std::size_t> served_;  // the messages that are at ports
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t made_ = 0;
};

Task<void> perform(Communicator& comm, const Script& script, History& history, History* second) {
  std::vector<Request> posted;
  std::vector<bool> is_receive;
  for (const Operation& operation : script) {
    switch (operation.kind) {
      case Operation::Kind::send:
        posted.push_back(
            comm.isend(Rank(operation.peer), Tag(operation.tag), empty_message(operation.words)));
        is_receive.push_back(false);
        break;
      case Operation::Kind::receive:
        posted.push_back(comm.irecv(Rank(operation.peer), Tag(operation.tag)));
        is_receive.push_back(true);
        break;
      case Operation::Kind::start:
        posted.push_back(comm.start([&operation, second](Communicator& strand) {
          return perform(strand, operation.program, *second, nullptr);
        }));
        is_receive.push_back(false);
        break;
      case Operation::Kind::compute:
        co_await comm.compute(Seconds(operation.seconds));
        break;
      case Operation::Kind::wait_all:
        if (operation.requests.size() == 1) {
          const Message message = co_await comm.wait(posted[operation.requests[0]]);
          if (is_receive[operation.requests[0]]) history.words.push_back(message.words.value());
          break;
        }
        std::vector<Request> requests;
        for (const std::size_t request : operation.requests) requests.push_back(posted[request]);
        const std::vector<Message> messages = co_await comm.wait_all(requests);
        for (std::size_t i = 0; i < messages.size(); ++i) {
          if (!is_receive[operation.requests[i]]) continue;
          history.words.push_back(messages[i].words.value());
        }
        break;
    }
    history.clocks.push_back(comm.now().value());
  }
}

}  // namespace

std::vector<History> run_time_driven(const std::vector<Script>& scripts,
                                     const networks::LogGP& machine) {
  return TimeDriven(scripts, machine).run();
}

bool close(const std::vector<History>& a, const std::vector<History>& b) {
  const auto near = [](double x, double y) {
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
  };
  return std::ranges::equal(a, b, [&](const History& x, const History& y) {
    return x.words == y.words && std::ranges::equal(x.clocks, y.clocks, near);
  });
}

std::vector<History> run_on(Network& network, const std::vector<Script>& scripts) {
  std::vector<History> histories(2 * scripts.size());
  network.run(static_cast<int>(scripts.size()), [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank().value());
    return perform(comm, scripts[rank], histories[rank], &histories[scripts.size() + rank]);
  });
  return histories;
}

}  // namespace thinwire::test
