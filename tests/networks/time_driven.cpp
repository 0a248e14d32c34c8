#include "tests/networks/time_driven.hpp"

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
  int rank;
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
  bool matched = false;
  double done_at = 0;
  std::int64_t words = 0;
};

struct InFlight {
  int to;
  int tag;
  std::int64_t words;
};

struct Arrival {
  double time;
  std::int64_t words;
};

struct RankState {
  std::size_t next = 0;
  double clock = 0;
  double send_free = 0;
  double receive_free = 0;
  bool blocked = false;
  std::vector<Posted> requests;
  std::deque<InFlight> port;
  std::map<std::pair<int, int>, std::deque<std::size_t>> expected;
  std::map<std::pair<int, int>, std::deque<Arrival>> early;
};

class TimeDriven {
 public:
  TimeDriven(const std::vector<Script>& scripts, const LogGP& machine)
      : scripts_(scripts), machine_(machine), ranks_(scripts.size()), histories_(scripts.size()) {}

  std::vector<History> run() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) wake(rank, 0);
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
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].next != scripts_[rank].size()) throw std::logic_error("script is stuck");
    }
    return histories_;
  }

 private:
  double occupancy(std::int64_t words) const {
    return machine_.gap.value() + machine_.gap_per_word.value() * static_cast<double>(words);
  }

  RankState& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void wake(int rank, double time) {
    events_.push({.time = time, .kind = Event::Kind::wake, .rank = rank, .number = ++made_});
  }

  /// The script of a rank, as far as it goes at time `now`.
  void go_on(int rank, double now) {
    RankState& state = at(rank);
    state.blocked = false;
    const Script& script = scripts_[static_cast<std::size_t>(rank)];
    while (state.next < script.size()) {
      if (state.clock > now) return wake(rank, state.clock);
      if (!perform(rank, script[state.next], now)) return;
      histories_[static_cast<std::size_t>(rank)].clocks.push_back(state.clock);
      ++state.next;
    }
  }

  /// False where the rank has to come back to it, by an event or by a message.
  bool perform(int rank, const Operation& operation, double now) {
    RankState& state = at(rank);
    switch (operation.kind) {
      case Operation::Kind::compute:
        state.clock += operation.seconds;
        return true;
      case Operation::Kind::send: {
        state.clock += machine_.overhead.value();
        const double departure = std::max(state.clock, state.send_free);
        state.send_free = departure + occupancy(operation.words);
        state.requests.push_back({.is_send = true, .matched = true, .done_at = state.send_free});
        state.port.push_back({operation.peer, operation.tag, operation.words});
        events_.push(
            {.time = departure, .kind = Event::Kind::departure, .rank = rank, .number = ++made_});
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
      case Operation::Kind::wait_all:
        return wait(rank, operation.requests, now);
    }
    return false;
  }

  bool wait(int rank, std::span<const std::size_t> requests, double now) {
    RankState& state = at(rank);
    double done = state.clock;
    for (const std::size_t request : requests) {
      if (!state.requests[request].matched) {
        state.blocked = true;
        return false;
      }
      done = std::max(done, state.requests[request].done_at);
    }
    if (done > now) {
      wake(rank, done);
      return false;
    }
    state.clock = done;
    for (const std::size_t request : requests) {
      if (state.requests[request].is_send) continue;
      state.clock += machine_.overhead.value();
      histories_[static_cast<std::size_t>(rank)].words.push_back(state.requests[request].words);
    }
    return true;
  }

  void depart(int rank, double time) {
    const InFlight message = at(rank).port.front();
    at(rank).port.pop_front();
    RankState& receiver = at(message.to);
    const double start = std::max(time + machine_.latency.value(), receiver.receive_free);
    receiver.receive_free = start + occupancy(message.words);
    events_.push({.time = receiver.receive_free,
                  .kind = Event::Kind::wake,
                  .rank = message.to,
                  .number = ++made_,
                  .brings_message = true,
                  .from = rank,
                  .tag = message.tag,
                  .words = message.words});
  }

  void take_in(const Event& event) {
    RankState& state = at(event.rank);
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

  const std::vector<Script>& scripts_;
  const LogGP& machine_;
  std::vector<RankState> ranks_;
  std::vector<History> histories_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t made_ = 0;
};

Task<void> perform(Communicator& comm, const Script& script, History& history) {
  std::vector<Request> posted;
  std::vector<bool> is_send;
  for (const Operation& operation : script) {
    switch (operation.kind) {
      case Operation::Kind::send:
        posted.push_back(
            comm.isend(Rank(operation.peer), Tag(operation.tag), empty_message(operation.words)));
        is_send.push_back(true);
        break;
      case Operation::Kind::receive:
        posted.push_back(comm.irecv(Rank(operation.peer), Tag(operation.tag)));
        is_send.push_back(false);
        break;
      case Operation::Kind::compute:
        co_await comm.compute(Seconds(operation.seconds));
        break;
      case Operation::Kind::wait_all:
        if (operation.requests.size() == 1) {
          const Message message = co_await comm.wait(posted[operation.requests[0]]);
          if (!is_send[operation.requests[0]]) history.words.push_back(message.words.value());
          break;
        }
        std::vector<Request> requests;
        for (const std::size_t request : operation.requests) requests.push_back(posted[request]);
        const std::vector<Message> messages = co_await comm.wait_all(requests);
        for (std::size_t i = 0; i < messages.size(); ++i) {
          if (is_send[operation.requests[i]]) continue;
          history.words.push_back(messages[i].words.value());
        }
        break;
    }
    history.clocks.push_back(comm.now().value());
  }
}

}  // namespace

std::vector<History> run_time_driven(const std::vector<Script>& scripts, const LogGP& machine) {
  return TimeDriven(scripts, machine).run();
}

std::vector<History> run_on(Network& network, const std::vector<Script>& scripts) {
  std::vector<History> histories(scripts.size());
  network.run(static_cast<int>(scripts.size()), [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank().value());
    return perform(comm, scripts[rank], histories[rank]);
  });
  return histories;
}

}  // namespace thinwire::test
