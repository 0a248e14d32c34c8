// The first of several requests, and work beside a strand: on the machine whose times are known.
#include <doctest/doctest.h>

#include <array>
#include <span>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/recording.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/firsts.hpp"

namespace thinwire::networks {

using test::empty_message;
using test::Firsts;
using test::firsts_on;

namespace {

constexpr Tag kAnyTag(0);

/// The same whether the requests are watched or looked at each time.
Firsts either_way(Network& network, const std::vector<double>& at, double work) {
  const Firsts firsts = firsts_on(network, at, work);
  const Firsts watched = firsts_on(network, at, work, 1, true);
  CHECK(watched.positions == firsts.positions);
  CHECK(watched.times == firsts.times);
  return firsts;
}

}  // namespace

TEST_CASE("the first of several requests is the one that completes first") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0)));
  const Firsts firsts = either_way(network, {9, 2, 6}, 5);
  CHECK(firsts.positions == std::vector<std::size_t>{1, 3, 2, 0});
  CHECK(firsts.times == std::vector<double>{3, 5, 7, 10});
}

TEST_CASE("what is known to complete late does not hide what completes before it") {
  // The work is known from the beginning; with a latency, events are handled in windows.
  AlphaBetaNetwork network({.latency = Seconds(0.5),
                            .overhead = Seconds(0),
                            .gap = Seconds(0.5),
                            .gap_per_word = Seconds(0)});
  const Firsts firsts = either_way(network, {3, 2}, 100);
  CHECK(firsts.positions == std::vector<std::size_t>{1, 0, 2});
  CHECK(firsts.times == std::vector<double>{3, 4, 100});
}

TEST_CASE("a request that becomes complete late does not hide what completes before it") {
  // The loop knows when an eager send will be complete as soon as the message has left, which is
  // after the rank has begun to wait.
  AlphaBetaNetwork network(alpha_beta(Seconds(0), Seconds(1)), {.eager = Bytes(400)});
  Firsts firsts;
  const auto receive = [](Communicator& comm) -> Task<void> {
    co_await comm.wait(comm.irecv(Rank(0), kAnyTag));
  };
  const auto send_and_receive = [&](Communicator& comm) -> Task<void> {
    std::array open{comm.isend(Rank(1), kAnyTag, empty_message(10)), comm.irecv(Rank(2), Tag(0))};
    for (std::span<const Request> left = open; !left.empty(); left = left.first(left.size() - 1)) {
      const auto first = co_await comm.wait_any(left);
      firsts.positions.push_back(first.position);
      firsts.times.push_back(comm.now().value());
    }
  };
  network.run(3, [&](Communicator& comm) {
    const Rank rank = comm.rank();
    if (rank == Rank(0)) return send_and_receive(comm);
    return rank == Rank(1) ? receive(comm) : test::send_at(comm, 2, 1);
  });
  CHECK(firsts.positions == std::vector<std::size_t>{1, 0});
  CHECK(firsts.times == std::vector<double>{3, 10});
}

TEST_CASE("what is watched does not end a wait for something else") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0)));
  Firsts firsts;
  std::vector<double> others;
  const auto wait_for_both = [&](Communicator& comm) -> Task<void> {
    std::vector<Request> open{comm.irecv(Rank(1), kAnyTag), comm.irecv(Rank(2), kAnyTag)};
    for (const Request request : open) comm.watch(request);
    for (const std::int64_t from : {3, 4}) {  // later than both, and between them
      co_await comm.wait(comm.irecv(Rank(static_cast<int>(from)), kAnyTag));
      others.push_back(comm.now().value());
      const auto first = co_await comm.wait_watched(open);
      firsts.positions.push_back(first.position);
      firsts.times.push_back(comm.now().value());
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(first.position));
    }
  };
  network.run(5, [&](Communicator& comm) {
    constexpr std::array kAt{0.0, 9.0, 2.0, 5.0, 7.0};
    if (comm.rank() == Rank(0)) return wait_for_both(comm);
    return test::send_at(comm, kAt.at(static_cast<std::size_t>(comm.rank().value())), 1);
  });
  // Rank 2 is first, and has come before rank 3; rank 1 comes after rank 4.
  CHECK(others == std::vector<double>{6, 8});
  CHECK(firsts.positions == std::vector<std::size_t>{1, 0});
  CHECK(firsts.times == std::vector<double>{6, 10});
}

TEST_CASE("what was complete before it is watched is first") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0)));
  std::vector<double> times;
  const auto take_late = [&](Communicator& comm) -> Task<void> {
    std::vector<Request> open{comm.irecv(Rank(1), kAnyTag)};
    co_await comm.wait(comm.irecv(Rank(2), kAnyTag));
    comm.watch(open.front());
    open.push_back(comm.start_work(Seconds(100)));
    comm.watch(open.back());
    co_await comm.wait_watched(open);
    times.push_back(comm.now().value());
    open.erase(open.begin());
    co_await comm.wait_watched(open);
    times.push_back(comm.now().value());
  };
  network.run(3, [&](Communicator& comm) {
    if (comm.rank() == Rank(0)) return take_late(comm);
    return test::send_at(comm, comm.rank() == Rank(1) ? 1 : 5, 1);
  });
  CHECK(times == std::vector<double>{6, 106});
}

TEST_CASE("of what is complete at once, the first in the list is first") {
  AlphaBetaNetwork network(alpha_beta(Seconds(0), Seconds(0)));
  const Firsts firsts = either_way(network, {1, 1, 1}, 1);
  CHECK(firsts.times == std::vector<double>{1, 1, 1, 1});
  CHECK(firsts.positions.size() == 4);
}

TEST_CASE("the counting network takes messages one by one in any order") {
  CountingNetwork network;
  CHECK(either_way(network, {1, 1, 1}, 0).positions.size() == 4);
}

TEST_CASE("a recording has the operations of both strands, and what they wait for") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(0)));
  Schedule schedule(2);
  // Each sends to the other on its second strand, and then on its own.
  const auto program = [](Communicator& comm) -> Task<void> {
    const Rank other(1 - comm.rank().value());
    const Request started = comm.start([other](Communicator& strand) -> Task<void> {
      co_await strand.sendrecv(other, empty_message(3), other, kAnyTag);
    });
    co_await comm.compute(Seconds(0));
    co_await comm.wait(started);
    co_await comm.sendrecv(other, empty_message(5), other, kAnyTag);
  };
  network.run(2, recorded(program, schedule));
  separate_strands(schedule);
  for (const RankSchedule& ops : schedule) {
    REQUIRE(ops.size() == 4);
    for (const std::size_t i : {0, 1}) {
      CHECK(ops[i].processor == 1);
      CHECK(ops[i].tag == Tag(1));
      CHECK(ops[i].words == Words(3));
      CHECK(ops[i + 2].processor == 0);
      CHECK(ops[i + 2].tag == kAnyTag);
      CHECK(ops[i + 2].words == Words(5));
    }
    const auto listed = [](const OpLists& lists, std::size_t op) {
      return std::vector(lists.of(op).begin(), lists.of(op).end());
    };
    CHECK(listed(ops.after_begin(), 0).empty());
    CHECK(listed(ops.after_begin(), 1) == std::vector<std::uint32_t>{0});
    CHECK(listed(ops.after_end(), 2) == std::vector<std::uint32_t>{1, 0});
    CHECK(listed(ops.after_begin(), 3) == std::vector<std::uint32_t>{2});
  }
}

}  // namespace thinwire::networks
