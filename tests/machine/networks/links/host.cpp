// What a host costs, in closed form, on `links` and on the α-β machine.
#include "sim/machine/networks/common/host.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"

namespace thinwire::networks {

using test::Doubles;
using test::exactly;
using test::PlatformFile;

namespace {

constexpr double kLatency = 3e-6;
constexpr double kPerWord = 4e-9;  // 1 GB/s

/// One message from rank 0 to rank 1; each rank may compute before.
RankProgram message_of(std::int64_t words, double sender_late, double receiver_late) {
  return [=](Communicator& comm) -> Task<void> {
    return [](Communicator& own, std::int64_t length, double sends, double receives) -> Task<void> {
      if (own.rank() == Rank(0)) {
        co_await own.compute(Seconds(sends));
        co_await own.wait(own.isend(Rank(1), Tag(0), test::empty_message(length)));
      } else {
        co_await own.compute(Seconds(receives));
        co_await own.wait(own.irecv(Rank(0), Tag(0)));
      }
    }(comm, words, sender_late, receiver_late);
  };
}

/// When the ranks are done on a wire of kLatency and kPerWord. Both networks must agree.
Doubles done_with(const HostCosts& host, const RankProgram& program) {
  const PlatformFile file(test::two_hosts_xml({"1GBps", "3us"}));
  const Doubles links =
      test::times_on_links({.platform = file.path(), .settings = {.host = host}}, program);
  AlphaBetaNetwork alphabeta({.latency = Seconds(kLatency),
                              .overhead = Seconds(0),
                              .gap = Seconds(0),
                              .gap_per_word = Seconds(kPerWord)},
                             host);
  const Doubles ports = test::finished_of(alphabeta.run(2, program));
  CHECK(links[0] == doctest::Approx(ports[0]).epsilon(1e-12));
  CHECK(links[1] == doctest::Approx(ports[1]).epsilon(1e-12));
  return links;
}

}  // namespace

TEST_CASE("Overhead takes time of both processors, and nothing of the wire") {
  for (const std::int64_t words : {0, 1, 1000}) {
    const double wire = kLatency + kPerWord * static_cast<double>(words);
    const Doubles done = done_with({.overhead = Seconds(1e-6)}, message_of(words, 0, 0));
    CHECK(done[0] == exactly(1e-6 + wire));
    CHECK(done[1] == exactly(1e-6 + wire + 1e-6));
  }
}

TEST_CASE("Eager messages are copied on both sides, longer ones are not") {
  const HostCosts host{
      .overhead = Seconds(1e-6), .eager = Bytes(4000), .eager_copy_per_word = Seconds(2e-9)};
  const Doubles eager = done_with(host, message_of(1000, 0, 0));
  CHECK(eager[0] == exactly(1e-6 + 2e-6 + 4e-6));  // has left after 1000 words
  CHECK(eager[1] == exactly(1e-6 + 2e-6 + kLatency + 4e-6 + 1e-6 + 2e-6));
  const Doubles longer = done_with(host, message_of(1001, 0, 0));
  CHECK(longer[1] == exactly(1e-6 + kLatency + 4.004e-6 + 1e-6));
}

TEST_CASE("A handshake takes a latency to announce a message and one to ask for it") {
  const HostCosts host{.handshake = true};
  const double wire = kLatency + 4e-6;
  CHECK(done_with(host, message_of(1000, 0, 0))[1] == exactly(2 * kLatency + wire));
  // The announcement has arrived when the receive is posted, and the other way round.
  CHECK(done_with(host, message_of(1000, 0, 1))[1] == exactly(1 + kLatency + wire));
  CHECK(done_with(host, message_of(1000, 1, 0))[1] == exactly(1 + 2 * kLatency + wire));
  CHECK(done_with(host, message_of(1000, 0, kLatency / 2))[1] == exactly(2 * kLatency + wire));
  // What is eager needs none.
  const HostCosts eager{.eager = Bytes(4000), .handshake = true};
  CHECK(done_with(eager, message_of(1000, 0, 0))[1] == exactly(wire));
}

TEST_CASE("Noise delays messages by its mean, as the seed draws it") {
  const auto ring = [](Communicator& comm) { return test::ring(comm, 10, 4000); };
  const auto makespan = [&](double noise, std::uint64_t seed) {
    AlphaBetaNetwork network(alpha_beta(Seconds(1e-6), Seconds(0)),
                             {.noise = Seconds(noise), .seed = seed});
    return network.run(1, ring).makespan().value();
  };
  const double quiet = makespan(0, 1);
  const double noisy = makespan(1e-6, 1);
  // The mean of 4000 exponential delays has a deviation of 1/sqrt(4000) of the mean.
  CHECK((noisy - quiet) / 4000 == doctest::Approx(1e-6).epsilon(4 / std::sqrt(4000.0)));
  CHECK(makespan(1e-6, 1) == noisy);
  CHECK(makespan(1e-6, 2) != noisy);
}

}  // namespace thinwire::networks
