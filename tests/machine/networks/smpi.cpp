// Time, order and books on SMPI. The platforms' figures are round, so that times are known.
#include "sim/machine/networks/smpi/smpi.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/firsts.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/smpi.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using test::Cable;
using test::Doubles;
using test::empty_message;
using test::exactly;
using test::on_smpi;
using test::PlatformFile;
using test::SmpiPlace;
using test::times_on_smpi;

namespace {

constexpr Tag kSmpiTag(0);
constexpr double kBandwidth = 1e9;  // bytes a second
constexpr double kLatency = 3e-6;
constexpr double kGap = 2e-6;
const Cable kCable{.bandwidth = "1GBps", .latency = "3us"};

double bytes(std::int64_t words) { return 4 * static_cast<double>(words); }

/// Of a message that is alone on the cable of two hosts.
double alone(std::int64_t words, double gap = 0) {
  return kLatency + gap + bytes(words) / kBandwidth;
}

std::string gap_property() { return test::property("thinwire.message_gap", "2us"); }

Task<void> one_message(Communicator& comm, int from, int to, std::int64_t words) {
  if (comm.rank() == Rank(from)) {
    co_await comm.wait(comm.isend(Rank(to), kSmpiTag, empty_message(words)));
  } else if (comm.rank() == Rank(to)) {
    co_await comm.wait(comm.irecv(Rank(from), kSmpiTag));
  }
}

Task<void> smpi_both_ways(Communicator& comm, int rounds, std::int64_t words) {
  const Rank peer(1 - comm.rank().value());
  for (int round = 0; round < rounds; ++round) {
    co_await comm.sendrecv(peer, empty_message(words), peer, kSmpiTag);
  }
}

/// Ranks 0 and 1 send to ranks 2 and 3.
Task<void> two_flows(Communicator& comm, std::int64_t words) {
  const int rank = comm.rank().value();
  if (rank < 2) {
    co_await comm.wait(comm.isend(Rank(rank + 2), kSmpiTag, empty_message(words)));
  } else {
    co_await comm.wait(comm.irecv(Rank(rank - 2), kSmpiTag));
  }
}

/// Rank 0 receives from all others at once.
Task<void> gather(Communicator& comm, std::int64_t words) {
  if (comm.rank() != Rank(0)) {
    co_await comm.wait(comm.isend(Rank(0), kSmpiTag, empty_message(words)));
    co_return;
  }
  std::vector<Request> receives;
  for (int from = 1; from < comm.size(); ++from)
    receives.push_back(comm.irecv(Rank(from), kSmpiTag));
  co_await comm.wait_all(receives);
}

/// Into rank 0 from 8 .. 15, which are on another node where nodes have 8 GPUs.
Task<void> gather_from_afar(Communicator& comm, std::int64_t words) {
  std::vector<Request> requests;
  for (int from = 8; from < 16 && comm.rank() == Rank(0); ++from) {
    requests.push_back(comm.irecv(Rank(from), kSmpiTag));
  }
  if (comm.rank().value() >= 8) {
    requests.push_back(comm.isend(Rank(0), kSmpiTag, empty_message(words)));
  }
  co_await comm.wait_all(requests);
}

/// Messages 0, 1, 2 ... of very different lengths; received ones are waited for last first.
Task<void> in_order(Communicator& comm, int count, Doubles& received, test::BodyCount& bodies) {
  std::vector<Request> requests;
  if (comm.rank() == Rank(0)) {
    for (int i = 0; i < count; ++i) {
      const Words words(i % 2 == 0 ? 1'000'000 : i);
      requests.push_back(comm.isend(Rank(1), kSmpiTag, test::counted_message(bodies, words, i)));
    }
    co_await comm.wait_all(requests);
    co_return;
  }
  for (int i = 0; i < count; ++i) requests.push_back(comm.irecv(Rank(0), kSmpiTag));
  received.resize(static_cast<std::size_t>(count));
  for (int i = count - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    received[at] = test::number_of(co_await comm.wait(requests[at]));
  }
}

Task<void> by_tag(Communicator& comm, Doubles& received, test::BodyCount& bodies) {
  if (comm.rank() == Rank(0)) {
    std::vector<Request> sends;
    for (int i = 0; i < 4; ++i) {
      sends.push_back(
          comm.isend(Rank(1), Tag(i % 2), test::counted_message(bodies, Words(10 - i), i)));
    }
    co_await comm.wait_all(sends);
    co_return;
  }
  const std::array receives{comm.irecv(Rank(0), Tag(1)), comm.irecv(Rank(0), Tag(0)),
                            comm.irecv(Rank(0), Tag(0)), comm.irecv(Rank(0), Tag(1))};
  const std::vector<Message> messages = co_await comm.wait_all(receives);
  for (const Message& message : messages) received.push_back(test::number_of(message));
}

/// Unlike lengths and pauses, several messages in flight.
Task<void> mixed(Communicator& comm, int rounds) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  for (int round = 0; round < rounds; ++round) {
    std::vector<Request> requests;
    for (int shift = 1; shift <= 3; ++shift) {
      const auto words = static_cast<std::int64_t>(random_bits(5, rank, round, shift) % 40'000);
      requests.push_back(comm.irecv(Rank((rank + size - shift) % size), kSmpiTag));
      requests.push_back(comm.isend(Rank((rank + shift) % size), kSmpiTag, empty_message(words)));
    }
    co_await comm.compute(Seconds(1e-5 * to_unit(random_bits(6, rank, round))));
    co_await comm.wait_all(requests);
  }
}

Task<void> smpi_ring(Communicator& comm, int steps, std::int64_t words) {
  const int rank = comm.rank().value();
  const Rank next((rank + 1) % comm.size());
  const Rank previous((rank + comm.size() - 1) % comm.size());
  for (int step = 0; step < steps; ++step) {
    co_await comm.sendrecv(next, empty_message(words), previous, kSmpiTag);
  }
}

Task<void> compute_meanwhile(Communicator& comm, double seconds, std::int64_t words) {
  const Rank peer(1 - comm.rank().value());
  const std::array requests{comm.irecv(peer, kSmpiTag),
                            comm.isend(peer, kSmpiTag, empty_message(words))};
  co_await comm.compute(Seconds(seconds));
  co_await comm.wait_all(requests);
}

Task<void> late_receiver(Communicator& comm, double pause, std::int64_t words) {
  if (comm.rank() == Rank(0)) {
    co_await comm.wait(comm.isend(Rank(1), kSmpiTag, empty_message(words)));
  } else {
    co_await comm.compute(Seconds(pause));
    co_await comm.wait(comm.irecv(Rank(0), kSmpiTag));
  }
}

Task<void> smpi_phases(Communicator& comm) {
  const Rank peer(1 - comm.rank().value());
  co_await comm.compute(Seconds(1));
  const auto outer = comm.phase("outer");
  co_await comm.compute(Seconds(2));
  {
    const auto inner = comm.phase("inner");
    co_await comm.sendrecv(peer, empty_message(1000), peer, kSmpiTag);
    co_await comm.sendrecv(peer, empty_message(500), peer, kSmpiTag);
  }
  if (comm.rank() == Rank(0)) co_await comm.compute(Seconds(4));
}

Task<void> smpi_nothing(Communicator& comm) {
  static_cast<void>(comm.rank());
  co_return;
}

}  // namespace

TEST_CASE("A lone message on SMPI takes latency, gap and its bytes over the bandwidth") {
  for (const bool with_gap : {false, true}) {
    const PlatformFile file(test::two_hosts_xml(kCable, with_gap ? gap_property() : ""));
    const double gap = with_gap ? kGap : 0;
    // One word would be lost in the envelope of 16 bytes that SMPI adds, were it not taken off.
    for (const std::int64_t words : {1, 3, 4, 5, 1000, 123'457, 10'000'000}) {
      CAPTURE(words);
      const Doubles times = times_on_smpi({.platform = file.path()}, [&](Communicator& comm) {
        return one_message(comm, 0, 1, words);
      });
      CHECK(times[0] == exactly(alone(words, gap)));
      CHECK(times[1] == exactly(alone(words, gap)));
    }
  }
}

TEST_CASE("An empty message on SMPI takes the latency and the gap") {
  for (const bool with_gap : {false, true}) {
    const PlatformFile file(test::two_hosts_xml(kCable, with_gap ? gap_property() : ""));
    const Doubles times = times_on_smpi(
        {.platform = file.path()}, [](Communicator& comm) { return one_message(comm, 0, 1, 0); });
    CHECK(times[1] == exactly(alone(0, with_gap ? kGap : 0)));
  }
}

TEST_CASE("The narrowest link of a route on SMPI sets the pace, and all latencies add up") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const Doubles times =
      times_on_smpi({.platform = file.path(), .ranks = 4},
                    [](Communicator& comm) { return one_message(comm, 1, 2, 1'000'000); });
  CHECK(times[2] == exactly(7e-6 + 4e6 / 2e9));
  CHECK(times[0] == 0);
}

TEST_CASE("Two flows over one link on SMPI take twice the time each") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const Doubles times =
      times_on_smpi({.platform = file.path(), .ranks = 4},
                    [](Communicator& comm) { return two_flows(comm, 1'000'000); });
  for (const double time : times) CHECK(time == exactly(7e-6 + 2 * 4e6 / 2e9));
}

TEST_CASE("Both directions of a cable at once cost nothing more on SMPI") {
  constexpr int kRounds = 5;
  constexpr std::int64_t kWords = 100'000;
  const PlatformFile file(test::two_hosts_xml(kCable, gap_property()));
  const Doubles times = times_on_smpi({.platform = file.path()}, [](Communicator& comm) {
    return smpi_both_ways(comm, kRounds, kWords);
  });
  for (const double time : times) CHECK(time == exactly(kRounds * alone(kWords, kGap)));
}

TEST_CASE("Messages into one host on SMPI share its port, gap and all") {
  const PlatformFile file(test::star_xml(4, kCable, gap_property()));
  constexpr std::int64_t kWords = 50'000;
  const Doubles times = times_on_smpi({.platform = file.path(), .ranks = 4},
                                      [](Communicator& comm) { return gather(comm, kWords); });
  const double one = kGap + bytes(kWords) / kBandwidth;
  for (const double time : times) CHECK(time == exactly(2 * kLatency + 3 * one));
}

TEST_CASE("With one flow a port on SMPI, messages into one host come one after another") {
  const PlatformFile file(test::star_xml(4, kCable, gap_property()));
  constexpr std::int64_t kWords = 50'000;
  const Doubles times =
      times_on_smpi({.platform = file.path(), .ranks = 4, .settings = {.flows_per_port = 1}},
                    [](Communicator& comm) { return gather(comm, kWords); });
  const double one = kGap + bytes(kWords) / kBandwidth;
  Doubles sent(times.begin() + 1, times.end());
  std::ranges::sort(sent);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    // Those that wait have their latency behind them by then.
    CHECK(sent[i] == exactly(2 * kLatency + static_cast<double>(i + 1) * one));
  }
  CHECK(times[0] == exactly(2 * kLatency + 3 * one));
}

TEST_CASE("With one flow a port on SMPI, a GPU's NIC serves one as its NVLink does") {
  const auto spread_of = [](int flows) {
    const Doubles times =
        times_on_smpi({.platform = topologies::kPlatforms.file("nvlink_ib"),
                       .ranks = 16,
                       .settings = {.flows_per_port = flows}},
                      [](Communicator& comm) { return gather_from_afar(comm, 1'000'000); });
    return *std::min_element(times.begin() + 8, times.end()) / times[0];
  };
  CHECK(spread_of(0) > 0.9);
  CHECK(spread_of(1) < 0.2);
}

TEST_CASE("With one flow a port on SMPI, a lone exchange takes what it takes without") {
  constexpr std::int64_t kWords = 50'000;
  for (const std::string& xml : {test::star_xml(2, kCable), test::two_hosts_xml(kCable)}) {
    const PlatformFile file(xml);
    const auto times = [&](int flows) {
      return times_on_smpi({.platform = file.path(), .settings = {.flows_per_port = flows}},
                           [](Communicator& comm) { return smpi_both_ways(comm, 3, kWords); });
    };
    CHECK(times(1) == times(0));
  }
}

TEST_CASE("A transfer on SMPI begins when both sides are there") {
  const PlatformFile file(test::two_hosts_xml(kCable));
  const Doubles times = times_on_smpi({.platform = file.path()}, [](Communicator& comm) {
    return late_receiver(comm, 0.25, 1000);
  });
  for (const double time : times) CHECK(time == exactly(0.25 + alone(1000)));
}

TEST_CASE("Work beside a strand and its messages do not delay each other on SMPI") {
  const PlatformFile file(
      test::star_xml(4, {.bandwidth = "1GBps", .latency = "0s"}, gap_property()));
  for (const std::int64_t words : {0, 500}) {  // a message without words ends as any other
    const auto firsts = [&](const std::vector<double>& at, double work) {
      return on_smpi({.platform = file.path(), .ranks = 4}, [&](SmpiNetwork& network) {
        const test::Firsts seen = test::firsts_on(network, at, work, words);
        Doubles numbers = seen.times;
        for (const std::size_t position : seen.positions) {
          numbers.push_back(static_cast<double>(position));
        }
        return numbers;
      });
    };
    CAPTURE(words);
    const double took = kGap + bytes(words) / kBandwidth;
    const Doubles between = firsts({9e-5, 2e-5, 6e-5}, 5e-5);
    const Doubles expected{2e-5 + took, 5e-5, 6e-5 + took, 9e-5 + took, 1, 3, 2, 0};
    REQUIRE(between.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(between[i] == exactly(expected[i]));
    const Doubles late = firsts({9e-5, 2e-5, 6e-5}, 1);
    CHECK(Doubles(late.end() - 4, late.end()) == Doubles{1, 2, 0, 3});
    CHECK(late[3] == exactly(1));
    const Doubles none = firsts({9e-5, 2e-5, 6e-5}, 0);
    CHECK(Doubles(none.end() - 4, none.end()) == Doubles{3, 1, 2, 0});
    CHECK(none[0] == 0);
  }
}

TEST_CASE("What a message cannot use of a port others get on SMPI, and not on alphabeta") {
  // Ranks 0, 1 and 4 send to rank 2, and rank 0 also to rank 3. Each message needs 4 us of a port:
  // docs/decisions/0009-rendezvous.md.
  const auto program = [](Communicator& comm) -> Task<void> {
    std::vector<Request> open;
    for (const auto& [from, to] :
         {std::pair{0, 2}, std::pair{1, 2}, std::pair{4, 2}, std::pair{0, 3}}) {
      if (comm.rank() == Rank(from)) {
        open.push_back(comm.isend(Rank(to), kSmpiTag, empty_message(5000)));
      } else if (comm.rank() == Rank(to)) {
        open.push_back(comm.irecv(Rank(from), kSmpiTag));
      }
    }
    co_await comm.wait_all(open);
  };
  AlphaBetaNetwork alphabeta(alpha_beta(Seconds(2e-6), Seconds(4e-10)));
  const Doubles ours = test::finished_of(alphabeta.run(5, program));
  const Doubles theirs =
      times_on_smpi({.platform = topologies::kPlatforms.file("alphabeta"), .ranks = 5}, program);
  for (const std::size_t rank : {0, 1, 2, 4}) {
    CHECK(ours[rank] == exactly(12e-6));
    CHECK(theirs[rank] == exactly(12e-6));
  }
  CHECK(ours[3] == exactly(8e-6));    // half of rank 0's port, until both its messages are sent
  CHECK(theirs[3] == exactly(6e-6));  // what the other message, a third of rank 2's port, leaves
}

TEST_CASE("Messages of one pair and tag arrive on SMPI in the order of posting") {
  const PlatformFile file(test::two_hosts_xml(kCable));
  constexpr int kCount = 20;
  const Doubles received = on_smpi({.platform = file.path()}, [](SmpiNetwork& network) {
    Doubles numbers;
    test::BodyCount bodies;
    network.run(2, [&](Communicator& comm) { return in_order(comm, kCount, numbers, bodies); });
    numbers.push_back(bodies.living);
    return numbers;
  });
  REQUIRE(received.size() == kCount + 1);
  CHECK(std::ranges::is_sorted(received.begin(), received.end() - 1));
  CHECK(received.back() == 0);  // payloads that are still held
}

TEST_CASE("Messages on SMPI match by tag") {
  const PlatformFile file(test::two_hosts_xml(kCable));
  const Doubles received = on_smpi({.platform = file.path()}, [](SmpiNetwork& network) {
    Doubles numbers;
    test::BodyCount bodies;
    network.run(2, [&](Communicator& comm) { return by_tag(comm, numbers, bodies); });
    return numbers;
  });
  CHECK(received == Doubles{1, 0, 2, 3});
}

TEST_CASE("A message of more than 2^31 and 2^32 bytes takes its time on SMPI, and no memory") {
  const PlatformFile file(test::two_hosts_xml(kCable, gap_property()));
  // 2^31 - 4 bytes are the last that an int counts, beyond it MPI is given units of 16 bytes.
  for (const std::int64_t words : {(std::int64_t{1} << 29) - 1, std::int64_t{1} << 29,
                                   (std::int64_t{1} << 30) + 4, std::int64_t{5} << 30}) {
    CAPTURE(words);
    const ChildOutcome outcome =
        test::text_on_smpi({.platform = file.path()}, [&](SmpiNetwork& network) {
          const RunReport report =
              network.run(2, [&](Communicator& comm) { return one_message(comm, 0, 1, words); });
          Doubles numbers = test::finished_of(report);
          numbers.push_back(static_cast<double>(report.ranks[1].total().words_received.value()));
          return test::packed(numbers);
        });
    const Doubles numbers = test::unpacked(outcome.text);
    CHECK(numbers[1] == exactly(alone(words, kGap)));
    CHECK(numbers[2] == static_cast<double>(words));
    if (!test::kSanitized) CHECK(outcome.peak_rss_bytes < std::int64_t{200} << 20U);
  }
}

TEST_CASE("Messages of 40 MB between 1024 ranks on SMPI take no memory") {
  if (test::kSanitized) return;
  constexpr int kRanks = 1024;
  constexpr int kSteps = 4;
  constexpr std::int64_t kWords = 10'000'000;
  const PlatformFile file(test::star_xml(kRanks, kCable));
  const ChildOutcome outcome =
      test::text_on_smpi({.platform = file.path(), .ranks = kRanks}, [](SmpiNetwork& network) {
        return test::packed(test::finished_of(network.run(
            kRanks, [](Communicator& comm) { return smpi_ring(comm, kSteps, kWords); })));
      });
  for (const double time : test::unpacked(outcome.text)) {
    REQUIRE(time == exactly(kSteps * (2 * kLatency + bytes(kWords) / kBandwidth)));
  }
  CHECK(outcome.peak_rss_bytes < std::int64_t{400} << 20U);
}

TEST_CASE("Computing takes its time on SMPI, and messages under way go on meanwhile") {
  constexpr std::int64_t kWords = 100'000;
  const PlatformFile file(test::two_hosts_xml(kCable));
  for (const double seconds : {0.0, 1e-9, 1e-4, 4.03e-4, 1.0}) {
    CAPTURE(seconds);
    const Doubles times = times_on_smpi({.platform = file.path()}, [&](Communicator& comm) {
      return compute_meanwhile(comm, seconds, kWords);
    });
    CHECK(times[0] == exactly(std::max(seconds, alone(kWords))));
  }
}

TEST_CASE("Time and traffic on SMPI are booked by phase and rank") {
  const PlatformFile file(test::two_hosts_xml(kCable));
  const Doubles numbers = on_smpi({.platform = file.path()}, [](SmpiNetwork& network) {
    const RunReport report = network.run(2, smpi_phases);
    Doubles all;
    const bool names = report.phases == std::vector<std::string>{"other", "outer", "inner"};
    all.push_back(names ? 1 : 0);
    for (const RankReport& rank : report.ranks) {
      for (const Traffic& phase : rank.by_phase) {
        all.push_back(phase.time.value());
        all.push_back(static_cast<double>(phase.messages_sent));
        all.push_back(static_cast<double>(phase.messages_received));
        all.push_back(static_cast<double>(phase.words_sent.value()));
        all.push_back(static_cast<double>(phase.words_received.value()));
      }
      all.push_back(rank.finished.value());
    }
    return all;
  });
  const double inner = alone(1000) + alone(500);
  const Doubles wanted{1,                                                                 //
                       1, 0, 0, 0, 0, 6, 0, 0, 0, 0, inner, 2, 2, 1500, 1500, 7 + inner,  // rank 0
                       1, 0, 0, 0, 0, 2, 0, 0, 0, 0, inner, 2, 2, 1500, 1500, 3 + inner};
  REQUIRE(numbers.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(numbers[i] == exactly(wanted[i]));
  }
}

TEST_CASE("Runs that follow one another on SMPI start at 0 and give the same times") {
  const PlatformFile file(test::star_xml(8, kCable, gap_property()));
  const SmpiPlace place{.platform = file.path(), .ranks = 8};
  const auto program = [](Communicator& comm) { return mixed(comm, 10); };
  const Doubles first = times_on_smpi(place, program);
  CHECK(*std::ranges::min_element(first) > 1e-4);
  const Doubles fourth = on_smpi(place, [&](SmpiNetwork& network) {
    for (int i = 0; i < 3; ++i) (void)network.run(8, program);
    return test::finished_of(network.run(8, program));
  });
  for (std::size_t rank = 0; rank < first.size(); ++rank) {
    CHECK(fourth[rank] == test::approx(first[rank]).epsilon(1e-12));
  }
}

TEST_CASE("The same simulation on SMPI gives the same times to the last digit") {
  const PlatformFile file(test::star_xml(17, kCable, gap_property()));
  const SmpiPlace place{.platform = file.path(), .ranks = 17};
  const auto program = [](Communicator& comm) { return mixed(comm, 20); };
  const Doubles once = times_on_smpi(place, program);
  CHECK(times_on_smpi(place, program) == once);
}

TEST_CASE("Time on SMPI passes only where the program says so, however long it computes") {
  const PlatformFile file(test::two_hosts_xml(kCable));
  const auto busy = [](Communicator& comm) -> Task<void> {
    volatile double sum = 0;
    for (int i = 0; i < 3'000'000; ++i) sum = sum + i;
    co_await comm.compute(Seconds(1e-6));
  };
  for (const double time : times_on_smpi({.platform = file.path()}, busy)) {
    CHECK(time == exactly(1e-6));
  }
}

TEST_CASE("Programs that do nothing end at time zero on SMPI, one rank or many") {
  const PlatformFile file(test::star_xml(5, kCable));
  for (const int ranks : {1, 5}) {
    const Doubles times = times_on_smpi({.platform = file.path(), .ranks = ranks}, smpi_nothing);
    CHECK(times == Doubles(static_cast<std::size_t>(ranks), 0.0));
  }
}

TEST_CASE("A rank may send to itself on SMPI") {
  const PlatformFile file(test::star_xml(2, kCable, gap_property()));
  const Doubles times = times_on_smpi({.platform = file.path(), .ranks = 1},
                                      [](Communicator& comm) { return smpi_ring(comm, 3, 1000); });
  CHECK(times[0] == exactly(3 * (2 * kLatency + kGap + bytes(1000) / kBandwidth)));
}

TEST_CASE("Ranks on SMPI are where they are placed, several on a host if asked") {
  const PlatformFile file(test::star_xml(3, kCable));
  constexpr std::int64_t kWords = 100'000;
  const double one = 2 * kLatency + bytes(kWords) / kBandwidth;
  const auto times = [&](std::vector<topologies::HostIndex> hosts) {
    const int ranks = static_cast<int>(hosts.size());
    return times_on_smpi({.platform = file.path(), .ranks = ranks, .hosts = std::move(hosts)},
                         [](Communicator& comm) { return two_flows(comm, kWords); });
  };
  // Ranks 0 and 1 share host 0 and its port; 2 and 3 are alone, or together as well.
  for (const double time : times({0, 0, 1, 2})) {
    CHECK(time == exactly(2 * kLatency + 2 * bytes(kWords) / kBandwidth));
  }
  for (const double time : times({0, 0, 1, 1})) {
    CHECK(time == exactly(2 * kLatency + 2 * bytes(kWords) / kBandwidth));
  }
  const Doubles apart = times({0, 1, 2, 0});  // 0 to 2, 1 to 3: other hosts, other ports
  for (const double time : apart) CHECK(time == exactly(one));
}

}  // namespace thinwire::networks
