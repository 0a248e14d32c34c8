#include "tests/machine/networks/time_driven.hpp"

#include <algorithm>
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
  enum class Kind { wake, departure };  // at one time, wakes come first

  double time;
  Kind kind;
  int rank;              // of a wake, P + r is the second strand of r
  std::uint64_t number;  // in the order of making
  // Of a wake that is due to a message:
  bool brings_message = false;
  int from = 0;
  int tag = 0;
  std::int64_t words = 0;
};

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    if (a.time != b.time) return a.time > b.time;
    if (a.kind != b.kind) return a.kind > b.kind;
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.number > b.number;
  }
};

struct Posted {
  bool is_send = false;
  bool is_started = false;
  bool matched = false;
  double done_at = 0;
  std::int64_t words = 0;
};

struct InFlight {
  bool second;  // from a second strand to another
  int to;
  int tag;
  std::int64_t words;
};

struct Arrival {
  double time;
  std::int64_t words;
};

/// What the strands of a rank have in common.
struct Ports {
  double send_free = 0;
  double receive_free = 0;
  std::deque<InFlight> in_flight;
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
  std::map<std::pair<int, int>, std::deque<std::size_t>> expected;
  std::map<std::pair<int, int>, std::deque<Arrival>> early;
};

class TimeDriven {
 public:
  TimeDriven(const std::vector<Script>& scripts, const networks::LogGP& machine)
      : machine_(machine),
        ranks_(static_cast<int>(scripts.size())),
        ports_(scripts.size()),
        strands_(2 * scripts.size()),
        histories_(2 * scripts.size()) {
    for (std::size_t rank = 0; rank < scripts.size(); ++rank) {
      strands_[rank].script = &scripts[rank];
    }
  }

  std::vector<History> run() {
    for (int rank = 0; rank < ranks_; ++rank) wake(rank, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Event::Kind::departure) {
        depart(event.rank, event.time);
      } else if (event.brings_message) {
        take_in(event);
      } else {
        go_on(event.rank, event.time);
      }
    }
    for (const StrandState& strand : strands_) {
      const bool ended = strand.script == nullptr || strand.next == strand.script->size();
      if (!ended || !strand.started.empty()) throw std::logic_error("script is stuck");
    }
    return histories_;
  }

 private:
  double occupancy(std::int64_t words) const {
    return machine_.gap.value() + machine_.gap_per_word.value() * static_cast<double>(words);
  }

  StrandState& at(int strand) { return strands_[static_cast<std::size_t>(strand)]; }
  Ports& ports(int strand) { return ports_[static_cast<std::size_t>(strand % ranks_)]; }
  [[nodiscard]] bool is_second(int strand) const { return strand >= ranks_; }

  void wake(int rank, double time) {
    events_.push({.time = time, .kind = Event::Kind::wake, .rank = rank, .number = ++made_});
  }

  /// The script of a strand, as far as it goes at time `now`.
  void go_on(int strand, double now) {
    StrandState& state = at(strand);
    state.blocked = false;
    while (has_script(strand)) {
      const Script& script = *state.script;
      while (state.next < script.size()) {
        if (state.clock > now) return wake(strand, state.clock);
        if (!perform(strand, script[state.next], now)) return;
        histories_[static_cast<std::size_t>(strand)].clocks.push_back(state.clock);
        ++state.next;
      }
      if (!is_second(strand)) return;
      if (state.clock > now) return wake(strand, state.clock);
      state.script = nullptr;
      const Started ended = state.started.front();
      state.started.pop_front();
      StrandState& rank = at(strand - ranks_);
      rank.requests[ended.request].matched = true;
      rank.requests[ended.request].done_at = state.clock;
      if (rank.blocked) go_on(strand - ranks_, now);
    }
  }

  /// A second strand takes up what was started next.
  bool has_script(int strand) {
    StrandState& state = at(strand);
    if (state.script == nullptr && !state.started.empty()) {
      state.script = state.started.front().script;
      state.clock = std::max(state.clock, state.started.front().time);
      state.next = 0;
      state.requests.clear();
    }
    return state.script != nullptr;
  }

  /// False where the rank has to come back to it, by an event or by a message.
  bool perform(int strand, const Operation& operation, double now) {
    StrandState& state = at(strand);
    switch (operation.kind) {
      case Operation::Kind::compute:
        state.clock += operation.seconds;
        return true;
      case Operation::Kind::send: {
        state.clock += machine_.overhead.value();
        Ports& port = ports(strand);
        const double departure = std::max(state.clock, port.send_free);
        port.send_free = departure + occupancy(operation.words);
        state.requests.push_back({.is_send = true, .matched = true, .done_at = port.send_free});
        port.in_flight.push_back(
            {is_second(strand), operation.peer, operation.tag, operation.words});
        events_.push({.time = departure,
                      .kind = Event::Kind::departure,
                      .rank = strand % ranks_,
                      .number = ++made_});
        return true;
      }
      case Operation::Kind::receive: {
        Posted posted;
        auto& early = state.early[{operation.peer, operation.tag}];
        if (early.empty()) {
          posted.done_at = state.clock;
          state.expected[{operation.peer, operation.tag}].push_back(state.requests.size());
        } else {
          posted.matched = true;
          posted.done_at = std::max(state.clock, early.front().time);
          posted.words = early.front().words;
          early.pop_front();
        }
        state.requests.push_back(posted);
        return true;
      }
      case Operation::Kind::start: {
        StrandState& second = at(strand + ranks_);
        const bool idle = second.started.empty();
        second.started.push_back({&operation.program, state.clock, state.requests.size()});
        state.requests.push_back({.is_started = true});
        if (idle) wake(strand + ranks_, state.clock);
        return true;
      }
      case Operation::Kind::wait_all:
        return wait(strand, operation.requests, now);
    }
    return false;
  }

  bool wait(int strand, std::span<const std::size_t> requests, double now) {
    StrandState& state = at(strand);
    double done = state.clock;
    for (const std::size_t request : requests) {
      if (!state.requests[request].matched) {
        state.blocked = true;
        return false;
      }
      done = std::max(done, state.requests[request].done_at);
    }
    if (done > now) {
      wake(strand, done);
      return false;
    }
    state.clock = done;
    for (const std::size_t request : requests) {
      if (state.requests[request].is_send || state.requests[request].is_started) continue;
      state.clock += machine_.overhead.value();
      histories_[static_cast<std::size_t>(strand)].words.push_back(state.requests[request].words);
    }
    return true;
  }

  void depart(int rank, double time) {
    const InFlight message = ports(rank).in_flight.front();
    ports(rank).in_flight.pop_front();
    Ports& receiver = ports(message.to);
    const double start = std::max(time + machine_.latency.value(), receiver.receive_free);
    receiver.receive_free = start + occupancy(message.words);
    events_.push({.time = receiver.receive_free,
                  .kind = Event::Kind::wake,
                  .rank = message.to + (message.second ? ranks_ : 0),
                  .number = ++made_,
                  .brings_message = true,
                  .from = rank,
                  .tag = message.tag,
                  .words = message.words});
  }

  void take_in(const Event& event) {
    StrandState& state = at(event.rank);
    auto& expected = state.expected[{event.from, event.tag}];
    if (expected.empty()) {
      state.early[{event.from, event.tag}].push_back({event.time, event.words});
    } else {
      Posted& posted = state.requests[expected.front()];
      expected.pop_front();
      posted.matched = true;
      posted.done_at = std::max(posted.done_at, event.time);
      posted.words = event.words;
    }
    if (state.blocked) go_on(event.rank, event.time);
  }

  const networks::LogGP& machine_;
  int ranks_;
  std::vector<Ports> ports_;
  std::vector<StrandState> strands_;  // the ranks, and then their second strands
  std::vector<History> histories_;
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

std::vector<History> run_on(Network& network, const std::vector<Script>& scripts) {
  std::vector<History> histories(2 * scripts.size());
  network.run(static_cast<int>(scripts.size()), [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank().value());
    return perform(comm, scripts[rank], histories[rank], &histories[scripts.size() + rank]);
  });
  return histories;
}

}  // namespace thinwire::test
