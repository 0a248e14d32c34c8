// How runs on SMPI fail: each with its own error, and the child with it.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <new>

#include "sim/core/base/errors.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/failing.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/smpi.hpp"

namespace thinwire::networks {

using test::contains;
using test::Doubles;
using test::empty_message;
using test::error_of;
using test::PlatformFile;
using test::received_for_nothing;
using test::ring_of_waits;

namespace {

Task<void> sent_for_nothing(Communicator& comm, int count) {
  if (comm.rank() != Rank(0)) co_return;
  for (int i = 0; i < count; ++i) {
    static_cast<void>(comm.isend(Rank(1), Tag(i), empty_message(5)));
  }
}

Task<void> sent_too_late(Communicator& comm) {
  if (comm.rank() != Rank(0)) co_return;
  co_await comm.compute(Seconds(1));
  co_await comm.wait(comm.isend(Rank(1), Tag(2), empty_message(5)));
}

Task<void> never_waited(Communicator& comm) {
  const Rank peer(1 - comm.rank().value());
  static_cast<void>(comm.irecv(peer, Tag(0)));
  co_await comm.wait(comm.isend(peer, Tag(0), empty_message(5)));
}

template <class Error>
Task<void> one_throws(Communicator& comm, const char* text) {
  const Rank peer(comm.rank().value() ^ 1);
  co_await comm.sendrecv(peer, empty_message(10), peer, Tag(0));
  if (comm.rank() == Rank(2)) throw Error(text);
  co_await comm.wait(comm.irecv(peer, Tag(1)));  // never comes
}

Task<void> all_throw(Communicator& comm) {
  co_await comm.compute(Seconds(1.0 / (1 + comm.rank().value())));
  throw InputError("of rank " + std::to_string(comm.rank().value()));
}

Task<void> smpi_computes(Communicator& comm, double seconds) {
  co_await comm.compute(Seconds(seconds));
}

Task<void> sends_to(Communicator& comm, int peer, std::int64_t words) {
  co_await comm.wait(comm.isend(Rank(peer), Tag(0), empty_message(words)));
}

Task<void> smpi_receives_from(Communicator& comm, int peer) {
  co_await comm.wait(comm.irecv(Rank(peer), Tag(0)));
}

Task<void> exchange(Communicator& comm) {
  const Rank peer(comm.rank().value() ^ 1);
  co_await comm.sendrecv(peer, empty_message(10), peer, Tag(0));
}

template <class Error>
std::string error_on_smpi(int ranks, const RankProgram& program) {
  const PlatformFile file(test::star_xml(16));
  return error_of<Error>(
      [&] { (void)test::times_on_smpi({.platform = file.path(), .ranks = ranks}, program); });
}

}  // namespace

TEST_CASE("A deadlock on SMPI tells who waits for whom") {
  CHECK(error_on_smpi<DeadlockError>(3, ring_of_waits) ==
        "deadlock: 3 of 3 ranks wait and nothing is in flight: rank 0 waits for rank 1 to receive "
        "(tag 9); rank 1 waits for rank 2 (tag 3); rank 2 waits for rank 0 (tag 3);");
}

TEST_CASE("A deadlock of many on SMPI names the first eight") {
  const std::string error = error_on_smpi<DeadlockError>(16, ring_of_waits);
  CHECK(contains(error, "16 of 16 ranks"));
  CHECK(contains(error, "rank 7 waits for rank 8"));
  CHECK_FALSE(contains(error, "rank 8 waits"));
  CHECK(contains(error, "and 8 more"));
}

TEST_CASE("A deadlock on SMPI is found in a later run too, and told once") {
  const PlatformFile file(test::star_xml(4));
  const std::string error = error_of<DeadlockError>([&] {
    (void)test::on_smpi({.platform = file.path(), .ranks = 4}, [](SmpiNetwork& network) {
      for (int i = 0; i < 3; ++i) (void)network.run(4, exchange);
      (void)network.run(4, ring_of_waits);
      return Doubles{};
    });
  });
  CHECK(contains(error, "deadlock: 4 of 4 ranks wait"));
}

TEST_CASE("A message on SMPI that nobody receives is told, also by a rank that sends on") {
  for (const int count : {1, 3}) {
    CHECK(error_on_smpi<UnmatchedError>(2, [&](Communicator& comm) {
            return sent_for_nothing(comm, count);
          }).ends_with("and nobody received them"));
  }
}

TEST_CASE("A message on SMPI to a rank that has ended is told") {
  CHECK(error_on_smpi<UnmatchedError>(2, sent_too_late) ==
        "rank 0 sent 5 words to rank 1 (tag 2) and nobody received them");
}

TEST_CASE("A receive on SMPI for which nothing comes is told") {
  CHECK(error_on_smpi<UnmatchedError>(2, received_for_nothing) ==
        "rank 1 posted a receive from rank 0 (tag 7) and nothing came");
}

TEST_CASE("Messages on SMPI that arrive and are not waited for are told") {
  CHECK(contains(error_on_smpi<UnmatchedError>(2, never_waited), "nobody waited for them"));
}

TEST_CASE("What a rank on SMPI throws comes out as itself, with its text") {
  const char* text = "of rank 2, at its second step";
  const auto thrower = [&]<class Error>(const Error&) {
    return [text](Communicator& comm) { return one_throws<Error>(comm, text); };
  };
  CHECK(error_on_smpi<InputError>(4, thrower(InputError(""))) == text);
  CHECK(error_on_smpi<UnmatchedError>(4, thrower(UnmatchedError(""))) == text);
  CHECK(error_on_smpi<SimulationError>(4, thrower(SimulationError(""))) == text);
  CHECK(error_on_smpi<SimulationError>(4, thrower(std::runtime_error(""))) == text);
}

TEST_CASE("Of several ranks on SMPI that throw, the first in time is heard") {
  CHECK(error_on_smpi<InputError>(4, all_throw) == "of rank 3");
}

TEST_CASE("Local work on SMPI must take a finite time that is not negative") {
  for (const double seconds : {-1e-9, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    CHECK(contains(error_on_smpi<SimulationError>(
                       2, [&](Communicator& comm) { return smpi_computes(comm, seconds); }),
                   "local work must take a finite time"));
  }
}

TEST_CASE("A peer on SMPI that is no rank is refused") {
  for (const int peer : {-1, 2, 1'000'000}) {
    const std::string named = "names rank " + std::to_string(peer) + " as its peer";
    CHECK(contains(error_on_smpi<SimulationError>(
                       2, [&](Communicator& comm) { return sends_to(comm, peer, 1); }),
                   named));
    CHECK(contains(error_on_smpi<SimulationError>(
                       2, [&](Communicator& comm) { return smpi_receives_from(comm, peer); }),
                   named));
  }
}

TEST_CASE("A message that MPI cannot count is refused with what it can") {
  CHECK(contains(error_on_smpi<SimulationError>(
                     2, [](Communicator& comm) { return sends_to(comm, 0, 9'000'000'000); }),
                 "9000000000 words is more than MPI can send at once (8589934588 words)"));
}

TEST_CASE("Fewer hosts than ranks are named with both numbers before anything runs on SMPI") {
  CHECK(error_on_smpi<InputError>(17, exchange) ==
        "the platform has 16 hosts, fewer than the 17 ranks");
}

TEST_CASE("Ranks on SMPI without a place are refused with both numbers") {
  const PlatformFile file(test::star_xml(4));
  const std::string error = error_of<InputError>([&] {
    (void)test::on_smpi({.platform = file.path(), .ranks = 3}, [](SmpiNetwork& network) {
      (void)network.run(4, exchange);
      return Doubles{};
    });
  });
  CHECK(contains(error, "4 ranks are to run, but 3 have a place"));
}

}  // namespace thinwire::networks
