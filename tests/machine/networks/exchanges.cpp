// Exchanges whose steps the event loop takes are those that the ranks take: to the last digit, but where
// all ranks exchange at once on the α-β machine (joint_exchange.hpp), whose sums are rounded elsewhere.
#include "sim/machine/networks/common/exchanges.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/collectives/direct_exchange.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/kernel/forwarding.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/plain_rank.hpp"
#include "tests/support/ranks.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using algorithms::direct_exchange;
using algorithms::ExchangeOrder;

namespace {

/// Messages of lengths that differ, down to none, and work that differs.
class Uneven final : public algorithms::Exchange {
 public:
  Uneven(Rank rank, double work, test::BodyCount& count)
      : rank_(rank), work_(work), count_(count) {}

  [[nodiscard]] Message outgoing(Rank to) override {
    const auto words = static_cast<std::int64_t>(random_bits(7, rank_.value(), to.value()) % 3000);
    return test::counted_message(count_, Words(words < 300 ? 0 : words),
                                 1000 * rank_.value() + to.value());
  }
  [[nodiscard]] Seconds incoming(Rank from, Message message) override {
    right_ = right_ && test::number_of(message) == 1000 * from.value() + rank_.value();
    ++received_;
    return Seconds(work_ * static_cast<double>(message.words.value()));
  }
  [[nodiscard]] bool complete(int ranks) const { return right_ && received_ == ranks - 1; }

 private:
  Rank rank_;
  double work_;
  test::BodyCount& count_;
  bool right_ = true;
  int received_ = 0;
};

struct Repeated {
  int under_way;
  double work;  ///< seconds for each received word
};

/// Ranks come at different times, to two exchanges with a message between them.
Task<void> exchange_twice(Communicator& on_network, Repeated of, bool plain, test::BodyCount& count,
                          int& complete) {
  std::unique_ptr<test::PlainRank> wrapped;
  if (plain) wrapped = std::make_unique<test::PlainRank>(on_network);
  Communicator& comm = wrapped ? *wrapped : on_network;
  const int size = comm.size();
  const int rank = comm.rank().value();
  co_await comm.compute(Seconds(3e-6 * (rank * 7 % 5)));
  for (const int under_way : {of.under_way, 2 * of.under_way + 1}) {
    const auto phase = comm.phase(under_way == of.under_way ? "first" : "second");
    Uneven exchange(comm.rank(), of.work, count);
    co_await direct_exchange(comm, exchange, {.bucket = under_way});
    if (exchange.complete(size)) ++complete;
    co_await comm.sendrecv(Rank((rank + 1) % size), Message{{}, Words(100 * rank)},
                           Rank((rank + size - 1) % size), Tag(3));
  }
}

/// The same traffic in every phase, and the same time up to this part of the whole.
bool same_reports(const RunReport& a, const RunReport& b, double rounding) {
  bool same = a.phases == b.phases && a.ranks.size() == b.ranks.size();
  for (std::size_t rank = 0; same && rank < a.ranks.size(); ++rank) {
    const double most = rounding * b.ranks[rank].finished.value();
    const auto close = [most](Seconds x, Seconds y) {
      return std::abs(x.value() - y.value()) <= most;
    };
    same = close(a.ranks[rank].finished, b.ranks[rank].finished) &&
           a.ranks[rank].steps == b.ranks[rank].steps && same_traffic(a, b, rank);
    for (std::size_t phase = 0; same && phase < a.phases.size(); ++phase) {
      same = close(a.ranks[rank].by_phase[phase].time, b.ranks[rank].by_phase[phase].time);
    }
  }
  return same;
}

RunReport run(Network& network, int ranks, Repeated of, bool plain) {
  test::BodyCount count;
  int complete = 0;
  RunReport report = network.run(
      ranks, [&](Communicator& comm) { return exchange_twice(comm, of, plain, count, complete); });
  if (complete != 2 * ranks) throw SimulationError("messages are missing");
  if (count.living != 0) throw SimulationError("messages live on");
  return report;
}

/// The cases in which the two differ, a line each.
std::string differing_cases(Network& network, int ranks, double rounding = 0) {
  std::string differing;
  for (const int under_way : {1, 2, 5, 16, 100}) {
    for (const double work : {0.0, 2e-9, 40e-9}) {
      const Repeated of{.under_way = under_way, .work = work};
      if (same_reports(run(network, ranks, of, false), run(network, ranks, of, true), rounding)) {
        continue;
      }
      differing += fmt::format("P = {}, {} under way, {} s of work\n", ranks, under_way, work);
    }
  }
  return differing;
}

void check_same(Network& network, const std::vector<int>& rank_counts, double rounding = 0) {
  for (const int ranks : rank_counts) CHECK(differing_cases(network, ranks, rounding).empty());
}

const std::vector<int> kAll(test::kRankCounts.begin(), test::kRankCounts.end());

}  // namespace

TEST_CASE("The loop's exchanges are the ranks' own on the α-β machine and with a latency") {
  for (const double latency : {0.0, 1e-6}) {
    AlphaBetaNetwork network({.latency = Seconds(latency),
                              .overhead = Seconds(latency / 3),
                              .gap = test::kAlpha,
                              .gap_per_word = test::kBeta});
    check_same(network, kAll, 1e-12);
  }
}

TEST_CASE("The loop's exchanges are the ranks' own with all that a host costs") {
  for (const HostCosts& host :
       {HostCosts{.latency = Seconds(1e-6), .handshake = true, .handshake_time = Seconds(2e-7)},
        HostCosts{.one_way = Bytes(4000)},
        HostCosts{.overhead = Seconds(3e-7), .noise = Seconds(1e-6), .seed = 5},
        HostCosts{.overhead = Seconds(3e-7), .eager = Bytes(4000), .queued = Bytes(2000)},
        HostCosts{.eager = Bytes(4000), .buffered = Bytes(1000)},
        HostCosts{.eager = Bytes(4000), .inlined = Bytes(1000)},
        HostCosts{.eager = Bytes(4000), .destinations = 2}}) {
    AlphaBetaNetwork network(alpha_beta(test::kAlpha, test::kBeta), host);
    check_same(network, {3, 12, 17}, 1e-12);
  }
}

TEST_CASE("The loop's exchanges are the ranks' own on the counting network, steps too") {
  CountingNetwork network;
  check_same(network, kAll);
}

TEST_CASE("The loop's exchanges are the ranks' own on platforms") {
  for (const char* platform : {"aries_daint", "fat_tree", "nvlink_ib"}) {
    CAPTURE(platform);
    for (const int ranks : {2, 7, 16, 23}) {
      // In a child process, whose checks nobody would see.
      const std::string differing = test::text_on_links(
          {.platform = topologies::kPlatforms.file(platform), .ranks = ranks},
          [&](LinksNetwork& network) { return differing_cases(network, ranks); });
      CHECK(differing.empty());
    }
  }
}

TEST_CASE("What a rank throws in an exchange ends the run") {
  class Failing final : public algorithms::Exchange {
   public:
    explicit Failing(int after, test::BodyCount& count) : left_(after), count_(count) {}
    [[nodiscard]] Message outgoing(Rank /*to*/) override {
      if (left_-- == 0) throw SimulationError("no more");
      return test::counted_message(count_, Words(100), 0);
    }
    [[nodiscard]] Seconds incoming(Rank /*from*/, Message /*message*/) override {
      if (left_-- == 0) throw SimulationError("no more");
      return Seconds(0);
    }

   private:
    int left_;
    test::BodyCount& count_;
  };
  for (const int after : {0, 1, 5, 9, 10}) {
    AlphaBetaNetwork network(alpha_beta(test::kAlpha, test::kBeta));
    test::BodyCount count;
    const auto program = [&](Communicator& comm) -> Task<void> {
      return [](Communicator& own, int calls, test::BodyCount& bodies) -> Task<void> {
        Failing exchange(own.rank() == Rank(2) ? calls : 1000, bodies);
        co_await direct_exchange(own, exchange, {.bucket = 2});
      }(comm, after, count);
    };
    CHECK(test::error_of<SimulationError>([&] { network.run(7, program); }) == "no more");
    CHECK(count.living == 0);
  }
}

TEST_CASE("A rank that does not come to an exchange is named") {
  const auto error_with = [](bool plain) {
    AlphaBetaNetwork network(alpha_beta(test::kAlpha, test::kBeta));
    test::BodyCount count;
    int complete = 0;
    const auto program = [&](Communicator& comm) -> Task<void> {
      return [](Communicator& own, bool steps, test::BodyCount& bodies, int& ends) -> Task<void> {
        if (own.rank() == Rank(1)) co_return;
        co_await exchange_twice(own, {.under_way = 1, .work = 0}, steps, bodies, ends);
      }(comm, plain, count, complete);
    };
    const std::string error = test::error_of<DeadlockError>([&] { network.run(3, program); });
    CHECK(count.living == 0);
    return error;
  };
  CHECK(error_with(false) == error_with(true));
  CHECK(test::contains(error_with(false), "rank 2 waits for rank 1 (tag 3)"));
}

}  // namespace thinwire::networks
