// Rounds that the α-β machine takes for all their members at once are those that the ranks take one
// by one, to the last digit. Random schedules have rounds too (exclusive_ports.cpp).
#include "sim/core/kernel/rounds.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/group.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/plain_rank.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::networks {

namespace {

/// Pieces and works whose lengths differ, some of which are empty.
class Uneven final : public RoundsPart {
 public:
  Uneven(std::vector<Rounds> rounds, double work) : rounds_(std::move(rounds)), work_(work) {}
  [[nodiscard]] std::span<const Rounds> rounds() const override { return rounds_; }
  [[nodiscard]] Message piece(std::size_t at, int piece) const override {
    const int told = piece & rounds_[at].tells;
    return {{}, Words((told * 331 + static_cast<int>(at) * 77) % 1000 / 3)};
  }
  [[nodiscard]] Seconds work(std::size_t /*at*/, const Message& received) const override {
    return Seconds(work_ * static_cast<double>(received.words.value()));
  }

 private:
  std::vector<Rounds> rounds_;
  double work_;
};

/// A ring, a pairwise exchange, and, among a power of two of members, recursive doubling.
std::vector<Rounds> all_rounds(int members) {
  if (members == 1) return {};
  std::vector<Rounds> all{{.count = members - 1, .next_piece = -1, .sums = true},
                          {.count = members - 1, .piece = 1, .next_piece = -1},
                          {.count = members - 1, .next_distance = 1, .piece = 1, .next_piece = 1},
                          {.count = 3, .distance = members - 1, .next_piece = 3, .sums = true}};
  if ((members & (members - 1)) == 0) {
    for (int distance = 1; distance < members; distance *= 2) {
      all.push_back(
          {.distance = distance, .flips = true, .sums = distance != 2, .tells = ~(distance / 2)});
    }
  }
  return all;
}

/// Ranks come at different times, to rounds of all of them and then of groups.
Task<void> take_twice(Communicator& on_network, double work, bool plain) {
  std::unique_ptr<test::PlainRank> wrapped;
  if (plain) wrapped = std::make_unique<test::PlainRank>(on_network);
  Communicator& comm = wrapped ? *wrapped : on_network;
  co_await comm.compute(Seconds(3e-6 * (comm.rank().value() * 7 % 5)));
  {
    const auto phase = comm.phase("of all");
    const Uneven part(all_rounds(comm.size()), work);
    co_await comm.take_rounds(part, Tag(3));
  }
  const auto phase = comm.phase("of groups");
  const int first = comm.rank().value() % 2;
  Group group(comm, {.first = first, .count = (comm.size() + 1 - first) / 2, .stride = 2});
  const Uneven part(all_rounds(group.size()), work);
  co_await group.take_rounds(part, Tag(3));
}

std::string differing(Network& network, int ranks) {
  std::string cases;
  for (const double work : {0.0, 3e-9}) {
    const auto run = [&](bool plain) {
      return network.run(ranks, [&](Communicator& comm) { return take_twice(comm, work, plain); });
    };
    const RunReport a = run(false);
    const RunReport b = run(true);
    for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
      bool same = a.phases == b.phases && a.ranks[rank].finished == b.ranks[rank].finished &&
                  a.ranks[rank].steps == b.ranks[rank].steps && same_traffic(a, b, rank);
      for (std::size_t phase = 0; same && phase < a.phases.size(); ++phase) {
        same = a.ranks[rank].by_phase[phase].time == b.ranks[rank].by_phase[phase].time;
      }
      if (!same) cases += fmt::format("P = {}, rank {}, {} s of work\n", ranks, rank, work);
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("Joint rounds are the ranks' own on the α-β machine and with what a host costs") {
  for (const HostCosts& host :
       {HostCosts{}, HostCosts{.overhead = Seconds(3e-7), .latency = Seconds(1e-6)},
        HostCosts{.latency = Seconds(1e-6), .handshake = true, .handshake_time = Seconds(2e-7)},
        HostCosts{.overhead = Seconds(3e-7), .noise = Seconds(1e-6), .seed = 5},
        HostCosts{.eager = Bytes(400), .queued = Bytes(200)}, HostCosts{.one_way = Bytes(400)}}) {
    AlphaBetaNetwork network(alpha_beta(test::kAlpha, test::kBeta), host);
    for (const int ranks : test::kRankCounts) CHECK(differing(network, ranks).empty());
  }
}

TEST_CASE("Joint rounds are the ranks' own in lanes of many members") {
  AlphaBetaNetwork network({.latency = Seconds(2e-7),
                            .overhead = Seconds(1e-7),
                            .gap = test::kAlpha,
                            .gap_per_word = test::kBeta});
  CHECK(differing(network, 257).empty());
}

TEST_CASE("Rounds are the ranks' own on the counting network") {
  CountingNetwork network;
  for (const int ranks : {1, 2, 7, 16}) CHECK(differing(network, ranks).empty());
}

TEST_CASE("Rounds whose times no number holds are refused") {
  AlphaBetaNetwork network(alpha_beta(Seconds(1e307), Seconds(1e307)));
  CHECK(test::contains(test::error_of<InputError>([&] {
                         network.run(4, [](Communicator& comm) -> Task<void> {
                           const Uneven part(all_rounds(comm.size()), 0);
                           co_await comm.take_rounds(part, Tag(3));
                         });
                       }),
                       "too large for a number"));
}

TEST_CASE("A rank that does not come to rounds is named") {
  const auto error_with = [](bool plain) {
    AlphaBetaNetwork network(alpha_beta(test::kAlpha, test::kBeta));
    return test::error_of<DeadlockError>([&] {
      network.run(3, [plain](Communicator& comm) {
        return [](Communicator& own, bool alone) -> Task<void> {
          if (own.rank() == Rank(1)) co_return;
          co_await take_twice(own, 0, alone);
        }(comm, plain);
      });
    });
  };
  CHECK(error_with(false) == error_with(true));
  CHECK(test::contains(error_with(false), "rank 2 waits for rank 1 (tag 3)"));
}

TEST_CASE("Rounds are the ranks' own beside a message that waits for another rank") {
  // Rank 0 has a send posted when it comes, so none joins; the others wait at the rounds meanwhile.
  const auto ends = [](bool plain) {
    AlphaBetaNetwork network(alpha_beta(test::kAlpha, test::kBeta));
    const RunReport report = network.run(5, [plain](Communicator& comm) {
      return [](Communicator& own, bool alone) -> Task<void> {
        if (own.rank() == Rank(0)) {
          co_await own.compute(Seconds(1e-5));
          const Request send = own.isend(Rank(4), Tag(1), {{}, Words(5000)});
          co_await take_twice(own, 1e-9, alone);
          co_await own.wait(send);
        } else {
          co_await take_twice(own, 1e-9, alone);
          if (own.rank() == Rank(4)) co_await own.wait(own.irecv(Rank(0), Tag(1)));
        }
      }(comm, plain);
    });
    std::vector<double> times;
    for (const RankReport& rank : report.ranks) times.push_back(rank.finished.value());
    return times;
  };
  CHECK(ends(false) == ends(true));
}

TEST_CASE("A rank whose rounds do not need a late member does not wait for it") {
  // Ranks 0 and 1 are done long before ranks 2 and 3 come, and rank 4 waits for the first message.
  const auto first_of = [](bool events_alone) {
    AlphaBetaNetwork network(alpha_beta(Seconds(1), Seconds(1)));
    if (events_alone) network.use_events_alone();
    std::size_t first = 99;
    network.run(6, [&first](Communicator& comm) {
      return [](Communicator& own, std::size_t& position) -> Task<void> {
        const int rank = own.rank().value();
        const Tag tag(0);
        if (rank == 5) {  // two messages share its port
          const std::array sends{own.isend(Rank(4), tag, {{}, Words(500)}),
                                 own.isend(Rank(2), tag, {{}, Words(600)})};
          co_await own.wait_all(sends);
        }
        if (rank == 4) {
          const std::array receives{own.irecv(Rank(5), tag), own.irecv(Rank(0), tag)};
          position = (co_await own.wait_any(receives)).position;
          co_await own.wait(receives[1 - position]);
        }
        if (rank == 2) co_await own.wait(own.irecv(Rank(5), tag));
        if (rank < 4) {
          const Uneven part({{.distance = 1, .flips = true}}, 0);
          co_await own.rounds_among({.first = 0, .count = 4, .stride = 1}, part, Tag(1));
        }
        if (rank == 0) co_await own.wait(own.isend(Rank(4), tag, {{}, Words(1)}));
      }(comm, first);
    });
    return first;
  };
  CHECK(first_of(false) == 1);
  CHECK(first_of(true) == 1);
}

}  // namespace thinwire::networks
