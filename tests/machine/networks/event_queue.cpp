#include "sim/machine/networks/common/event_queue.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "sim/machine/networks/common/event_window.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::networks {

using test::below;
using test::Generator;

namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return std::tie(a.time, a.who) > std::tie(b.time, b.who);
  }
};

/// The same queue with the heap of the standard library.
class Oracle {
 public:
  void push(double time, std::uint32_t who) { heap_.push({time, who}); }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  bool pop_earliest(double latest, std::vector<Event>& batch) {
    if (heap_.empty() || heap_.top().time > latest) return false;
    const double earliest = heap_.top().time;
    while (!heap_.empty() && heap_.top().time == earliest) {
      batch.push_back(heap_.top());
      heap_.pop();
    }
    return true;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, Later> heap_;
};

bool same(const std::vector<Event>& a, const std::vector<Event>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.time == y.time && x.who == y.who;
  });
}

/// Random pushes, never before what came out last, and random pops; `step` draws how far ahead.
template <class Step>
bool agrees(std::uint64_t seed, Step step) {
  Generator generator(seed);
  EventQueue queue;
  Oracle oracle;
  double now = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const std::int64_t pushes = below(generator, turn < 2000 ? 4 : 2);
    for (std::int64_t i = 0; i < pushes; ++i) {
      const double time = now + step(generator);
      const auto who = static_cast<std::uint32_t>(below(generator, 64));
      queue.push({.time = time, .who = who});
      oracle.push(time, who);
    }
    const double latest =
        below(generator, 3) == 0 ? now + step(generator) : std::numeric_limits<double>::infinity();
    std::vector<Event> batch{{-1, 0}};  // what is there already stays
    std::vector<Event> expected = batch;
    if (queue.pop_earliest(latest, batch) != oracle.pop_earliest(latest, expected)) return false;
    if (!same(batch, expected) || queue.empty() != oracle.empty()) return false;
    if (batch.size() > 1) now = batch.back().time;
  }
  return true;
}

/// The same for entries that come out several times at once.
bool some_agree(std::uint64_t seed) {
  Generator generator(seed);
  EventQueue queue;
  Oracle oracle;
  double now = 0;
  for (int turn = 0; turn < 300; ++turn) {
    for (std::int64_t i = below(generator, 100); i > 0; --i) {
      const double time = now + static_cast<double>(below(generator, 40)) / 8;
      const auto who = static_cast<std::uint32_t>(below(generator, 64));
      queue.push({.time = time, .who = who});
      oracle.push(time, who);
    }
    const double latest = now + static_cast<double>(below(generator, 40)) / 8;
    std::vector<Event> batch;
    std::vector<Event> expected;
    while (queue.pop_some(latest, batch)) {
      while (expected.size() < batch.size()) {
        if (!oracle.pop_earliest(latest, expected)) return false;
      }
      if (!same(batch, expected) || queue.empty() != oracle.empty()) return false;
    }
    if (oracle.pop_earliest(latest, expected)) return false;
    if (!batch.empty()) now = batch.back().time;
  }
  return true;
}

/// Events that each push up to two others, now or later, out of windows that `open` opens; whether
/// they come out as from a heap of the standard library.
template <class Open>
bool windows_agree(std::uint64_t seed, Open open) {
  Generator generator(seed);
  EventWindow window;
  std::priority_queue<Event, std::vector<Event>, Later> oracle;
  const auto push = [&](double now) {
    const double time = now + static_cast<double>(below(generator, 6)) / 4;
    const auto who = static_cast<std::uint32_t>(below(generator, 64));
    window.push({.time = time, .who = who});
    oracle.push({time, who});
  };
  for (int i = 0; i < 200; ++i) push(0);
  for (int handled = 0; window.has_next() || open(window); ++handled) {
    if (oracle.empty() || window.next_time() != oracle.top().time) return false;
    const Event event = window.next();
    if (!same({event}, {oracle.top()})) return false;
    oracle.pop();
    for (std::int64_t i = below(generator, 3); handled < 3000 && i > 0; --i) push(event.time);
  }
  return oracle.empty();
}

}  // namespace

TEST_CASE("events come out of windows of any length in the order of time and owner") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const double length : {0.1, 0.25, 1.1, 1e9}) {
      CHECK(windows_agree(seed, [&](EventWindow& window) { return window.open(length); }));
    }
    for (const std::size_t events : {1, 3, 64, 1'000'000}) {
      CHECK(windows_agree(seed, [&](EventWindow& window) { return window.open_next(events); }));
    }
  }
}

TEST_CASE("EventQueue come out in the order of a heap of the standard library") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CHECK(agrees(seed, [](Generator& g) { return static_cast<double>(below(g, 5)); }));
    CHECK(agrees(seed,
                 [](Generator& g) { return 1e-6 + static_cast<double>(below(g, 100)) * 1e-9; }));
    CHECK(agrees(
        seed, [](Generator& g) { return std::ldexp(1.0, static_cast<int>(below(g, 100)) - 90); }));
    CHECK(agrees(seed, [](Generator&) { return 0.0; }));
  }
}

TEST_CASE("entries that come out of EventQueue together are all of whole instants in order") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK(some_agree(seed));
}

TEST_CASE("Events at one time are in the order of ranks, then of what a rank has posted") {
  const std::vector<std::uint32_t> numbers{7, 3, 5, 4};  // of who 10, 11, 12 and 13
  const EventOrder order(numbers, 10);
  const std::vector<Event> events{{1.0, 9, Event::kAfterRanks},
                                  {1.0, 10, 2},
                                  {1.0, 11, 2},
                                  {1.0, 13, 1},
                                  {1.0, 4},
                                  {0.5, 12, 3}};
  const std::vector<Event> expected{events[5], events[4], events[3],
                                    events[2], events[1], events[0]};
  EventQueue queue(order);
  EventWindow by_time(order);
  EventWindow by_number(order);
  for (const Event& event : events) {
    queue.push(event);
    by_time.push(event);
    by_number.push(event);
  }
  std::vector<Event> popped;
  while (queue.pop_some(2.0, popped)) {
  }
  CHECK(same(popped, expected));
  const auto taken = [](EventWindow& window) {
    std::vector<Event> all;
    while (window.has_next()) all.push_back(window.next());
    return all;
  };
  CHECK(by_time.open(2.0));
  CHECK(same(taken(by_time), expected));
  CHECK(by_number.open_next(6));
  CHECK(same(taken(by_number), expected));
}

TEST_CASE("Events at one time come out together, by who they happen to") {
  EventQueue queue;
  CHECK(queue.empty());
  for (const std::uint32_t who : {5U, 3U, 9U, 0U}) queue.push({.time = 2.5, .who = who});
  queue.push({.time = 1.5, .who = 7});
  std::vector<Event> batch;
  CHECK_FALSE(queue.pop_earliest(1.0, batch));
  CHECK(queue.pop_earliest(1.5, batch));
  CHECK(same(batch, {{1.5, 7}}));
  CHECK_FALSE(queue.pop_earliest(2.0, batch));
  queue.push({.time = 1.5, .who = 1});  // at the very time that came out last
  batch.clear();
  CHECK(queue.pop_earliest(100, batch));
  CHECK(same(batch, {{1.5, 1}}));
  batch.clear();
  CHECK(queue.pop_earliest(100, batch));
  CHECK(same(batch, {{2.5, 0}, {2.5, 3}, {2.5, 5}, {2.5, 9}}));
  CHECK(queue.empty());
  CHECK_FALSE(queue.pop_earliest(100, batch));
}

}  // namespace thinwire::networks
