// How far the loop reads ahead moves no digit: neither the length of a window of events nor
// prefetching decides anything. So do all paths that messages choose.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "algorithms/collectives/direct_exchange.hpp"
#include "sim/core/base/random.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/common/read_ahead_settings.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"

namespace thinwire::networks {

namespace {

/// Three lengths of windows, and no prefetching.
constexpr std::array kReadAheads{
    ReadAheadSettings{}, ReadAheadSettings{.next_events = 1, .few_events = 1, .many_events = 2},
    ReadAheadSettings{.next_events = 10'000, .few_events = 5'000, .many_events = 100'000},
    ReadAheadSettings{.prefetches = false, .next_events = 16, .few_events = 8, .many_events = 32}};

/// Nothing to be done with what is exchanged.
class Counted final : public algorithms::Exchange {
 public:
  explicit Counted(Rank rank) : rank_(rank) {}
  [[nodiscard]] Message outgoing(Rank to) override {
    return {{}, Words(static_cast<std::int64_t>(random_bits(5, rank_.value(), to.value()) % 3))};
  }
  [[nodiscard]] Seconds incoming(Rank /*from*/, Message /*message*/) override { return Seconds(0); }

 private:
  Rank rank_;
};

/// A random schedule in rounds. Lengths and works are few, so that much happens at one time. Each
/// rank has several messages under way to others, waits for the first of some and for all of the
/// rest, and takes part in an exchange.
Task<void> rounds(Communicator& comm, std::uint64_t seed) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  for (int round = 0; round < 6; ++round) {
    std::vector<Request> requests;
    for (int i = 0; i < 4; ++i) {
      const auto by =
          1 + static_cast<int>(random_bits(seed, round, i) % static_cast<std::uint64_t>(size - 1));
      const auto words = static_cast<std::int64_t>(1000 * (random_bits(seed, rank, round, i) % 3));
      requests.push_back(comm.irecv(Rank((rank + size - by) % size), Tag(i)));
      requests.push_back(comm.isend(Rank((rank + by) % size), Tag(i), Message{{}, Words(words)}));
    }
    for (int i = 0; i < 3; ++i) {
      const auto first = co_await comm.wait_any(requests);
      requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(first.position));
      co_await comm.compute(Seconds(1e-6 * static_cast<double>(random_bits(seed, rank, i) % 3)));
    }
    co_await comm.wait_all(requests);
  }
  Counted exchange(comm.rank());
  co_await algorithms::direct_exchange(comm, exchange, {.bucket = 3});
}

/// All digits of a run.
std::string digits_of(const RunReport& report) {
  std::string digits;
  for (const RankReport& rank : report.ranks) {
    digits += fmt::format("{:a}", rank.finished.value());
    for (const auto& phase : rank.by_phase) digits += fmt::format(" {:a}", phase.time.value());
    digits += '\n';
  }
  return digits;
}

std::string all_digits(Network& network, int ranks) {
  std::string digits;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    digits +=
        digits_of(network.run(ranks, [seed](Communicator& comm) { return rounds(comm, seed); }));
  }
  return digits;
}

/// The settings with which the digits are others than with the first, a line each.
template <class NetworkOfLoop>
std::string differing_from_first(NetworkOfLoop& network, int ranks) {
  std::string first;
  std::string differing;
  for (std::size_t i = 0; i < kReadAheads.size(); ++i) {
    network.read_ahead(kReadAheads.at(i));
    const std::string digits = all_digits(network, ranks);
    if (i == 0) first = digits;
    if (digits != first) differing += fmt::format("settings {}\n", i);
  }
  return differing;
}

const std::vector<HostCosts>& hosts() {
  static const std::vector<HostCosts> all{
      {},
      {.overhead = Seconds(3e-7), .noise = Seconds(1e-6), .seed = 5},
      {.latency = Seconds(1e-6), .handshake = true, .handshake_time = Seconds(2e-7)},
      {.one_way = Bytes(2000)},
      {.eager = Bytes(5000), .inlined = Bytes(1000), .destinations = 2},
      {.eager = Bytes(9000), .buffered = Bytes(5000), .queued = Bytes(5000)}};
  return all;
}

}  // namespace

TEST_CASE("Reading ahead moves no digit on the α-β machine and with a latency") {
  for (const double latency : {0.0, 1e-6}) {
    for (const HostCosts& host : hosts()) {
      AlphaBetaNetwork network({.latency = Seconds(latency),
                                .overhead = Seconds(0),
                                .gap = Seconds(1e-6),
                                .gap_per_word = Seconds(1e-9)},
                               host);
      CHECK(differing_from_first(network, 13).empty());
    }
  }
}

TEST_CASE("Reading ahead moves no digit on platforms, on whatever paths") {
  // Four groups of 16 hosts, and leaves of eight hosts.
  const test::PlatformFile dragonfly = test::made_platform(
      "dragonfly",
      {{"groups", "4"}, {"chassis", "2"}, {"routers", "4"}, {"nodes", "2"}, {"blue-cables", "1"}});
  const test::PlatformFile fat_tree =
      test::made_platform("fat_tree", {{"children", "8,8"}, {"oversubscription", "1"}});
  struct Routed {
    const test::PlatformFile& platform;
    LinkRouting routing;
    double background = 0;
  };
  for (const Routed& at :
       {Routed{dragonfly, LinkRouting::minimal}, Routed{dragonfly, LinkRouting::valiant},
        Routed{dragonfly, LinkRouting::ugal, 0.3}, Routed{fat_tree, LinkRouting::ecmp, 0.3}}) {
    CAPTURE(static_cast<int>(at.routing));
    for (const HostCosts& host : {hosts().front(), hosts().at(4)}) {
      const std::string differing = test::text_on_links(
          {.platform = at.platform.path(),
           .ranks = 23,
           .settings = {.host = host, .routing = at.routing, .background_share = at.background}},
          [](LinksNetwork& network) { return differing_from_first(network, 23); });
      CHECK(differing.empty());
    }
  }
}

/// Rank 0 sends to rank 23, one message after the other, long after the `others` have sent, if they
/// do.
Task<void> after_others(Communicator& comm, bool others) {
  const int rank = comm.rank().value();
  if (rank == 0) {
    co_await comm.compute(Seconds(1));
    for (int i = 0; i < 10; ++i) {
      co_await comm.wait(comm.isend(Rank(23), Tag(1), Message{{}, Words(10)}));
    }
  } else if (rank == 23) {
    for (int i = 0; i < 10; ++i) co_await comm.wait(comm.irecv(Rank(0), Tag(1)));
  } else if (others) {
    const int to = rank % 22 + 1;
    const int from = (rank + 20) % 22 + 1;
    co_await comm.sendrecv(Rank(to), Message{{}, Words(1000)}, Rank(from), Tag(2));
  }
}

TEST_CASE("Paths are drawn by rank and message, whatever other ranks do") {
  const test::PlatformFile platform = test::made_platform(
      "dragonfly", {{"groups", "4"}, {"chassis", "2"}, {"routers", "4"}, {"nodes", "2"}});
  const auto end_of = [&platform](bool others) {
    return test::times_on_links({.platform = platform.path(),
                                 .ranks = 24,
                                 .settings = {.routing = LinkRouting::valiant}},
                                [others](Communicator& comm) { return after_others(comm, others); })
        .front();
  };
  CHECK(end_of(false) == end_of(true));
}

}  // namespace thinwire::networks
