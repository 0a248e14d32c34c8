// How runs on links fail: as on the other networks.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/failing.hpp"
#include "tests/support/links.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/started.hpp"

namespace thinwire::networks {

using test::contains;
using test::empty_message;
using test::error_of;
using test::PlatformFile;
using test::received_for_nothing;
using test::ring_of_waits;

namespace {

Task<void> wait_for_next(Communicator& comm) {
  const Rank next((comm.rank().value() + 1) % comm.size());
  co_await comm.wait(comm.irecv(next, Tag(3)));
}

Task<void> sent_for_nothing(Communicator& comm) {
  if (comm.rank() != Rank(0)) co_return;
  static_cast<void>(comm.isend(Rank(1), Tag(2), empty_message(5)));
}

Task<void> never_waited(Communicator& comm) {
  const Rank peer(comm.rank().value() ^ 1);
  static_cast<void>(comm.irecv(peer, Tag(0)));
  co_await comm.wait(comm.isend(peer, Tag(0), empty_message(5)));
}

Task<void> one_throws(Communicator& comm) {
  const Rank peer(comm.rank().value() ^ 1);
  co_await comm.sendrecv(peer, empty_message(10), peer, Tag(0));
  if (comm.rank() == Rank(2)) throw InputError("of rank 2, at its second step");
  co_await comm.wait(comm.irecv(peer, Tag(1)));
}

Task<void> sends_to(Communicator& comm, int peer) {
  co_await comm.wait(comm.isend(Rank(peer), Tag(0), empty_message(1)));
}

Task<void> computes(Communicator& comm, double seconds) { co_await comm.compute(Seconds(seconds)); }

/// Where senders wait for receivers; hosts 0 and 1 are on one side, 2 and 3 on the other.
template <class Error>
std::string error_of_rendezvous(int ranks, const RankProgram& program) {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  return error_of<Error>(
      [&] { (void)test::times_on_links({.platform = file.path(), .ranks = ranks}, program); });
}

template <class Error>
std::string error_of_eager(int ranks, const RankProgram& program) {
  const PlatformFile file(test::star_xml(16));
  return error_of<Error>([&] {
    (void)test::times_on_links(
        {.platform = file.path(), .ranks = ranks, .settings = {.host = {.eager = Bytes(1000)}}},
        program);
  });
}

}  // namespace

TEST_CASE("A deadlock on links tells who waits for whom") {
  CHECK(error_of_rendezvous<DeadlockError>(3, ring_of_waits) ==
        "deadlock: 3 of 3 ranks wait and nothing is in flight: rank 0 waits for rank 1 to receive "
        "(tag 9); rank 1 waits for rank 2 (tag 3); rank 2 waits for rank 0 (tag 3);");
  // Where a sender goes on, the others wait all the same.
  CHECK(contains(error_of_eager<DeadlockError>(3, ring_of_waits), "deadlock: 2 of 3 ranks wait"));
}

TEST_CASE("A deadlock of many on links names the first eight") {
  const std::string error = error_of_eager<DeadlockError>(16, wait_for_next);
  CHECK(contains(error, "16 of 16 ranks"));
  CHECK(contains(error, "rank 7 waits for rank 8"));
  CHECK_FALSE(contains(error, "rank 8 waits"));
  CHECK(contains(error, "and 8 more"));
}

TEST_CASE("A message on links that nobody receives is told") {
  const std::string wanted = "rank 0 sent 5 words to rank 1 (tag 2) and nobody received them";
  CHECK(error_of_rendezvous<UnmatchedError>(2, sent_for_nothing) == wanted);
  CHECK(error_of_eager<UnmatchedError>(2, sent_for_nothing) == wanted);
}

TEST_CASE("A receive on links for which nothing comes is told") {
  const std::string wanted = "rank 1 posted a receive from rank 0 (tag 7) and nothing came";
  CHECK(error_of_rendezvous<UnmatchedError>(2, received_for_nothing) == wanted);
  CHECK(error_of_eager<UnmatchedError>(2, received_for_nothing) == wanted);
}

TEST_CASE("Messages on links that arrive and are not waited for are told") {
  CHECK(contains(error_of_rendezvous<UnmatchedError>(2, never_waited), "nobody waited for them"));
  CHECK(contains(error_of_eager<UnmatchedError>(2, never_waited), "nobody waited for them"));
}

TEST_CASE("What a rank on links throws comes out as itself") {
  CHECK(error_of_rendezvous<InputError>(4, one_throws) == "of rank 2, at its second step");
  CHECK(error_of_eager<InputError>(4, one_throws) == "of rank 2, at its second step");
}

TEST_CASE("A peer on links that is no rank, and work that takes no time there is, are refused") {
  for (const int peer : {-1, 2, 1'000'000}) {
    CHECK(contains(error_of_eager<SimulationError>(
                       2, [&](Communicator& comm) { return sends_to(comm, peer); }),
                   "names rank " + std::to_string(peer) + " as its peer"));
  }
  for (const double seconds : {-1e-9, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(contains(error_of_eager<SimulationError>(
                       2, [&](Communicator& comm) { return computes(comm, seconds); }),
                   "local work must take a finite time"));
  }
}

TEST_CASE("Ranks on links without a place are refused with both numbers") {
  const PlatformFile file(test::star_xml(4));
  const std::string error = error_of<InputError>([&] {
    (void)test::on_links({.platform = file.path(), .ranks = 3}, [](LinksNetwork& network) {
      (void)network.run(4, wait_for_next);
      return test::Doubles{};
    });
  });
  CHECK(contains(error, "4 ranks are to run, but 3 have a place"));
}

TEST_CASE("No payload is left over on links, whatever happens to a run") {
  for (const bool fails : {false, true}) {
    const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
    const test::Doubles numbers =
        test::on_links({.platform = file.path(), .ranks = 4}, [&](LinksNetwork& network) {
          test::BodyCount bodies;
          const RankProgram program = [&](Communicator& comm) {
            return [](Communicator& self, test::BodyCount& count, bool leaves) -> Task<void> {
              const Rank peer(self.rank().value() ^ 2);
              for (int i = 0; i < 3; ++i) {
                Message message = test::counted_message(count, Words(1000));
                co_await self.sendrecv(peer, std::move(message), peer, Tag(0));
              }
              if (leaves) {
                static_cast<void>(self.isend(peer, Tag(1), test::counted_message(count, Words(7))));
              }
            }(comm, bodies, fails);
          };
          double failed = 0;
          try {
            (void)network.run(4, program);
          } catch (const UnmatchedError&) {
            failed = 1;
          }
          return test::Doubles{static_cast<double>(bodies.living), static_cast<double>(bodies.most),
                               failed};
        });
    CHECK(numbers[0] == 0);
    CHECK(numbers[1] > 0);
    CHECK(numbers[2] == (fails ? 1 : 0));
  }
}

}  // namespace thinwire::networks
