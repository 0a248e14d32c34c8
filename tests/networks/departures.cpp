#include "sim/networks/alphabeta/departures.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "tests/support/sparse.hpp"

namespace thinwire {

using test::below;
using test::Generator;

namespace {

struct Later {
  bool operator()(const Departure& a, const Departure& b) const {
    return std::tie(a.time, a.rank) > std::tie(b.time, b.rank);
  }
};

/// The same queue with the heap of the standard library.
class Oracle {
 public:
  void push(double time, std::uint32_t rank) { heap_.push({time, rank}); }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  bool pop_earliest(double latest, std::vector<Departure>& batch) {
    if (heap_.empty() || heap_.top().time > latest) return false;
    const double earliest = heap_.top().time;
    while (!heap_.empty() && heap_.top().time == earliest) {
      batch.push_back(heap_.top());
      heap_.pop();
    }
    return true;
  }

 private:
  std::priority_queue<Departure, std::vector<Departure>, Later> heap_;
};

bool same(const std::vector<Departure>& a, const std::vector<Departure>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.time == y.time && x.rank == y.rank;
  });
}

/// Random pushes, never before what came out last, and random pops; `step` draws how far ahead.
template <class Step>
bool agrees(std::uint64_t seed, Step step) {
  Generator generator(seed);
  Departures queue;
  Oracle oracle;
  double now = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const std::int64_t pushes = below(generator, turn < 2000 ? 4 : 2);
    for (std::int64_t i = 0; i < pushes; ++i) {
      const double time = now + step(generator);
      const auto rank = static_cast<std::uint32_t>(below(generator, 64));
      queue.push(time, rank);
      oracle.push(time, rank);
    }
    const double latest =
        below(generator, 3) == 0 ? now + step(generator) : std::numeric_limits<double>::infinity();
    std::vector<Departure> batch{{-1, 0}};  // what is there already stays
    std::vector<Departure> expected = batch;
    if (queue.pop_earliest(latest, batch) != oracle.pop_earliest(latest, expected)) return false;
    if (!same(batch, expected) || queue.empty() != oracle.empty()) return false;
    if (batch.size() > 1) now = batch.back().time;
  }
  return true;
}

}  // namespace

TEST_CASE("Departures come out in the order of a heap of the standard library") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CHECK(agrees(seed, [](Generator& g) { return static_cast<double>(below(g, 5)); }));
    CHECK(agrees(seed,
                 [](Generator& g) { return 1e-6 + static_cast<double>(below(g, 100)) * 1e-9; }));
    CHECK(agrees(
        seed, [](Generator& g) { return std::ldexp(1.0, static_cast<int>(below(g, 100)) - 90); }));
    CHECK(agrees(seed, [](Generator&) { return 0.0; }));
  }
}

TEST_CASE("Departures at one time come out together and by rank") {
  Departures queue;
  CHECK(queue.empty());
  for (const std::uint32_t rank : {5U, 3U, 9U, 0U}) queue.push(2.5, rank);
  queue.push(1.5, 7);
  std::vector<Departure> batch;
  CHECK_FALSE(queue.pop_earliest(1.0, batch));
  CHECK(queue.pop_earliest(1.5, batch));
  CHECK(same(batch, {{1.5, 7}}));
  CHECK_FALSE(queue.pop_earliest(2.0, batch));
  queue.push(1.5, 1);  // at the very time that came out last
  batch.clear();
  CHECK(queue.pop_earliest(100, batch));
  CHECK(same(batch, {{1.5, 1}}));
  batch.clear();
  CHECK(queue.pop_earliest(100, batch));
  CHECK(same(batch, {{2.5, 0}, {2.5, 3}, {2.5, 5}, {2.5, 9}}));
  CHECK(queue.empty());
  CHECK_FALSE(queue.pop_earliest(100, batch));
}

}  // namespace thinwire
