// What programs on real MPI processes may do, and how they fail: strands.cpp CASE, run by mpirun.
// Exits with 0 if the case went as it should. Cases named after a failure end all processes; the
// entries of ctest look for their reasons.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/mpi/mpi.hpp"
#include "tests/machine/networks/mpi/on_processes.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/started.hpp"

namespace thinwire {

namespace {

using networks::MpiNetwork;

void require(bool right, const char* what) {
  if (!right) throw SimulationError(what);
}

/// Started allreduces, on both sides of what fits beside a frame.
void overlapped(MpiNetwork& mpi) {
  for (const std::int64_t words : {1, 64, 100'000}) {
    const test::Overlap overlap{.ranks = mpi.size(), .words = words, .started = 3, .message = 50};
    test::Overlapped programs(overlap);
    const RunReport report = programs.run(mpi);
    const test::Seen& seen = programs.seen()[static_cast<std::size_t>(mpi.rank())];
    require(seen.sums.size() == 3, "three sums");
    const std::int64_t p = mpi.size();
    for (int i = 0; i < 3; ++i) {
      const Numbers sum = Numbers::from(seen.sums[static_cast<std::size_t>(i)].payload);
      require(std::cmp_equal(sum.size(), words), "their lengths");
      for (const std::int64_t number : sum.all()) {
        require(number == p * (p - 1) / 2 + p * 1000 * i, "their values");
      }
    }
    require(seen.ended.size() == 3 && seen.waited >= seen.ended[2], "time goes on");
    require(std::cmp_equal(report.ranks.size(), p), "a report of all ranks");
    for (const RankReport& rank : report.ranks) require(rank.finished > Seconds(0), "their times");
  }
}

/// Both strands exchange messages with the same tag.
void same_tags(MpiNetwork& mpi) {
  test::Exchanged got;
  mpi.run(2, [&](Communicator& comm) { return test::exchange_on_both(comm, got); });
  require(got.main == std::vector<std::int64_t>{0, 1, 2}, "the main strand's");
  require(got.second == std::vector<std::int64_t>{100, 101, 102}, "the second strand's");
}

/// Many messages of all lengths under way at once arrive in the order of posting, by tag.
Task<void> many(Communicator& comm, bool& right) {
  const Rank to((comm.rank().value() + 1) % comm.size());
  const Rank from((comm.rank().value() + comm.size() - 1) % comm.size());
  std::vector<Request> requests;
  constexpr int kCount = 60;
  const auto length = [](int i) { return static_cast<std::uint32_t>(i % 5 == 0 ? 9000 + i : i); };
  for (int i = 0; i < kCount; ++i) requests.push_back(comm.irecv(from, Tag(i % 3)));
  for (int i = 0; i < kCount; ++i) {
    const DenseBlock block = test::dense_gradient(length(i), comm.rank().value() + 100 * i);
    requests.push_back(comm.isend(to, Tag(i % 3), {block.payload(), Words(length(i))}));
  }
  const std::vector<Message> messages = co_await comm.wait_all(requests);
  for (int i = 0; i < kCount; ++i) {
    const DenseBlock wanted = test::dense_gradient(length(i), from.value() + 100 * i);
    const Message& got = messages[static_cast<std::size_t>(i)];
    right = right && equal(DenseBlock::from(got.payload), wanted);
  }
}

void in_order(MpiNetwork& mpi) {
  bool right = true;
  mpi.run(mpi.size(), [&](Communicator& comm) { return many(comm, right); });
  require(right, "every message, in the order of posting");
}

/// A send and a started program that nobody waits for end with the run.
Task<void> hasty(Communicator& comm) {
  const Rank to((comm.rank().value() + 1) % comm.size());
  const Rank from((comm.rank().value() + comm.size() - 1) % comm.size());
  static_cast<void>(comm.isend(to, Tag(0), Message{.payload = {}, .words = Words(50'000)}));
  static_cast<void>(comm.start([](Communicator& strand) { return test::fails(strand, -1, ""); }));
  const Message got = co_await comm.wait(comm.irecv(from, Tag(0)));
  if (got.words != Words(50'000)) throw SimulationError("another length");
}

void unheard(MpiNetwork& mpi) {
  for (int i = 0; i < 3; ++i) mpi.run(mpi.size(), hasty);
}

/// Exceptions of started programs that a rank waits for, and catches.
void caught(MpiNetwork& mpi) {
  int count = 0;
  mpi.run(mpi.size(), [&](Communicator& comm) {
    return test::starts_failing(comm, {.waits = true, .catches = true}, "it fails", count);
  });
  require(count == (mpi.rank() == 1 ? 1 : 0), "caught where it was thrown");
}

void phases(MpiNetwork& mpi) {
  const auto program = [](Communicator& comm) -> Task<void> {
    const bool even = comm.rank().value() % 2 == 0;
    const auto phase = comm.phase(even ? "even" : "odd");
    co_await comm.sendrecv(Rank(comm.rank().value() ^ 1), {.payload = {}, .words = Words(3)},
                           Rank(comm.rank().value() ^ 1), Tag(0));
  };
  const RunReport report = mpi.run(mpi.size(), program);
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const auto name = std::ranges::find(report.phases, rank % 2 == 0 ? "even" : "odd");
    const Traffic& traffic =
        report.ranks[rank].by_phase[static_cast<std::size_t>(name - report.phases.begin())];
    require(traffic.words_sent == Words(3) && traffic.messages_received == 1, "its own phase");
  }
}

// Failures.

Task<void> throws_on_one(Communicator& comm) {
  co_await test::fails(comm, 1, "rank one has had enough");
  const Rank next((comm.rank().value() + 1) % comm.size());
  co_await comm.wait(comm.irecv(next, Tag(9)));
}

Task<void> waits_in_vain(Communicator& comm) {
  co_await comm.wait(comm.irecv(Rank(comm.rank().value() ^ 1), Tag(9)));
}

Task<void> sends_to_nobody(Communicator& comm) {
  if (comm.rank() == Rank(0)) {
    static_cast<void>(comm.isend(Rank(1), Tag(3), Message{.payload = {}, .words = Words(7)}));
  }
  co_return;
}

Task<void> sends_what_has_no_bytes(Communicator& comm) {
  const Message message{DenseBlock::valueless(0, 5).payload(), Words(5)};
  const Rank peer(comm.rank().value() ^ 1);
  co_await comm.sendrecv(peer, message, peer, Tag(0));
}

const std::map<std::string, std::function<void(MpiNetwork&)>>& cases() {
  static const std::map<std::string, std::function<void(MpiNetwork&)>> all{
      {"overlapped", overlapped},
      {"same_tags", same_tags},
      {"in_order", in_order},
      {"unheard", unheard},
      {"caught", caught},
      {"phases", phases},
      {"throws", [](MpiNetwork& mpi) { mpi.run(mpi.size(), throws_on_one); }},
      {"started_throws",
       [](MpiNetwork& mpi) {
         int count = 0;
         mpi.run(mpi.size(), [&](Communicator& comm) {
           return test::starts_failing(comm, {.waits = false}, "what it started fails", count);
         });
       }},
      {"waits",
       [](MpiNetwork& mpi) {
         mpi.wait_as({.limit = 0.3, .pause = 1e-4});
         mpi.run(mpi.size(), waits_in_vain);
       }},
      {"unreceived", [](MpiNetwork& mpi) { mpi.run(mpi.size(), sends_to_nobody); }},
      {"no_bytes", [](MpiNetwork& mpi) { mpi.run(mpi.size(), sends_what_has_no_bytes); }},
      {"ranks", [](MpiNetwork& mpi) { mpi.run(mpi.size() + 1, hasty); }}};
  return all;
}

}  // namespace

}  // namespace thinwire

int main(int argc, char** argv) {
  return thinwire::test::on_processes(argc, argv, [&](thinwire::networks::MpiNetwork& mpi) {
    for (int i = 1; i < argc; ++i) {
      try {
        thinwire::cases().at(argv[i])(mpi);
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}: rank {}: {}\n", argv[i], mpi.rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    if (mpi.rank() == 0) fmt::print("{} cases went as they should\n", argc - 1);
  });
}
