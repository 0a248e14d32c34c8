#include "sim/core/kernel/group.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"

namespace thinwire::inline kernel {

using test::BodyCount;
using test::contains;
using test::counted_message;
using test::error_of;
using test::exactly;
using test::formula;

namespace {

constexpr Tag kTag(7);

// Every rank of a large simulation holds some.
static_assert(sizeof(Group) <= 48);

/// Once around the ring of a communicator: what each rank heard from the one before.
Task<int> around(Communicator& comm, int number, BodyCount& count) {
  const int size = comm.size();
  const Rank next((comm.rank().value() + 1) % size);
  const Rank previous((comm.rank().value() + size - 1) % size);
  Message mine = counted_message(count, Words(100), number);
  const Message heard = co_await comm.sendrecv(next, std::move(mine), previous, kTag);
  co_return test::number_of(heard);
}

struct Heard {
  int rank = -1;  ///< in the group
  int size = -1;
  int number = -1;  ///< of the one before
};

/// Which members the group of a rank has, or nothing where it is in none.
using MembersOf = std::optional<Members> (*)(int rank, int size);

Task<void> in_group(Communicator& comm, MembersOf members_of, Heard& heard, BodyCount& count) {
  const auto members = members_of(comm.rank().value(), comm.size());
  if (!members) co_return;
  Group group(comm, *members);
  heard.rank = group.rank().value();
  heard.size = group.size();
  heard.number = co_await around(group, comm.rank().value(), count);
}

std::vector<Heard> run(Network& network, int ranks, MembersOf members_of) {
  BodyCount count;
  std::vector<Heard> heard(static_cast<std::size_t>(ranks));
  network.run(ranks, [&](Communicator& comm) {
    return in_group(comm, members_of, heard[static_cast<std::size_t>(comm.rank().value())], count);
  });
  CHECK(count.living == 0);
  return heard;
}

std::optional<Members> nodes_of_four(int rank, int size) {
  const int first = rank / 4 * 4;
  return Members{.first = first, .count = std::min(4, size - first), .stride = 1};
}

std::optional<Members> every_third_from_one(int rank, int size) {
  if (rank % 3 != 1) return std::nullopt;
  return Members{.first = 1, .count = (size + 1) / 3, .stride = 3};
}

std::optional<Members> alone(int rank, int /*size*/) {
  return Members{.first = rank, .count = 1, .stride = 1};
}

/// Of ranks 1, 3, 5 ... those at places 0, 3, 6 ...: ranks 1, 7, 13 ... of the network.
Task<void> in_nested_group(Communicator& comm, Heard& heard, BodyCount& count) {
  if (comm.rank().value() % 6 != 1) co_return;
  Group odd(comm, {.first = 1, .count = comm.size() / 2, .stride = 2});
  Group group(odd, {.first = 0, .count = (odd.size() + 2) / 3, .stride = 3});
  heard.rank = group.rank().value();
  heard.size = group.size();
  heard.number = co_await around(group, comm.rank().value(), count);
}

struct Seen {
  Seconds before;
  Seconds after;
};

Task<void> wait_in_every_way(Communicator& comm, Seen& seen, BodyCount& count) {
  Group pair(comm, {.first = comm.rank().value() / 2 * 2, .count = 2, .stride = 1});
  const Rank peer(1 - pair.rank().value());
  const auto phase = pair.phase("pair");
  seen.before = pair.now();
  co_await pair.compute(Seconds(1));
  Message first = counted_message(count, Words(10), 1);
  Message second = counted_message(count, Words(20), 2);
  const std::array requests{pair.irecv(peer, kTag), pair.irecv(peer, kTag),
                            pair.isend(peer, kTag, std::move(first)),
                            pair.isend(peer, kTag, std::move(second))};
  const std::vector<Message> received = co_await pair.wait_all(requests);
  CHECK(test::number_of(received[0]) == 1);
  CHECK(test::number_of(received[1]) == 2);
  Message third = counted_message(count, Words(30), 3);
  const Request receive = pair.irecv(peer, kTag);
  co_await pair.wait(pair.isend(peer, kTag, std::move(third)));
  CHECK(test::number_of(co_await pair.wait(receive)) == 3);
  seen.after = pair.now();
}

Task<void> make(Communicator& comm, Members members) {
  const Group group(comm, members);
  co_return;
}

std::string refusal(int ranks, Members members) {
  test::Networks networks;
  return error_of<SimulationError>([&] {
    networks.alphabeta.run(ranks, [&](Communicator& comm) { return make(comm, members); });
  });
}

Task<void> send_beyond(Communicator& comm) {
  Group group(comm, {.first = comm.rank().value() / 2 * 2, .count = 2, .stride = 1});
  co_await group.wait(group.isend(Rank(2), kTag, test::empty_message(1)));
}

}  // namespace

TEST_CASE("The ranks of a group speak to one another under their numbers in it") {
  test::Networks networks;
  for (Network* network : std::array<Network*, 2>{&networks.alphabeta, &networks.counting}) {
    for (int ranks = 1; ranks <= 19; ++ranks) {
      CAPTURE(ranks);
      const auto nodes = run(*network, ranks, nodes_of_four);
      const auto thirds = run(*network, ranks, every_third_from_one);
      const auto singles = run(*network, ranks, alone);
      for (int rank = 0; rank < ranks; ++rank) {
        CAPTURE(rank);
        const auto at = static_cast<std::size_t>(rank);
        const int first = rank / 4 * 4;
        const int size = std::min(4, ranks - first);
        CHECK(nodes[at].rank == rank - first);
        CHECK(nodes[at].size == size);
        CHECK(nodes[at].number == first + (rank - first + size - 1) % size);
        CHECK(singles[at].rank == 0);
        CHECK(singles[at].size == 1);
        CHECK(singles[at].number == rank);
        if (rank % 3 == 1) {
          const int count = (ranks + 1) / 3;
          CHECK(thirds[at].rank == rank / 3);
          CHECK(thirds[at].size == count);
          CHECK(thirds[at].number == 1 + 3 * ((rank / 3 + count - 1) % count));
        } else {
          CHECK(thirds[at].rank == -1);
        }
      }
    }
  }
}

TEST_CASE("A group of a group names the ranks of the network at either's steps") {
  test::Networks networks;
  BodyCount count;
  std::vector<Heard> heard(26);
  networks.alphabeta.run(26, [&](Communicator& comm) {
    return in_nested_group(comm, heard[static_cast<std::size_t>(comm.rank().value())], count);
  });
  for (int place = 0; place < 5; ++place) {
    const Heard& member = heard[static_cast<std::size_t>(1 + 6 * place)];
    CHECK(member.rank == place);
    CHECK(member.size == 5);
    CHECK(member.number == 1 + 6 * ((place + 4) % 5));
  }
}

TEST_CASE("Time, work, phases and books of a group are the network's") {
  test::Networks networks;
  BodyCount count;
  std::vector<Seen> seen(6);
  const RunReport report = networks.alphabeta.run(6, [&](Communicator& comm) {
    return wait_in_every_way(comm, seen[static_cast<std::size_t>(comm.rank().value())], count);
  });
  CHECK(report.phases == std::vector<std::string>{"other", "pair"});
  for (std::size_t rank = 0; rank < 6; ++rank) {
    CHECK(seen[rank].before == Seconds(0));
    CHECK(seen[rank].after.value() == exactly(1 + formula(3, 60)));
    const Traffic& books = report.ranks[rank].by_phase[1];
    CHECK(books.messages_sent == 3);
    CHECK(books.words_received == Words(60));
    CHECK(books.time.value() == exactly(1 + formula(3, 60)));
  }
}

TEST_CASE("Members of a list are ranks in its order, and so are their subsets") {
  constexpr std::array<std::int32_t, 6> kList{7, 4, 0, 9, 2, 5};
  const Members all{.first = 0, .count = 6, .stride = 1, .list = kList.data()};
  CHECK(all.at(3) == Rank(9));
  CHECK(all.number_of(Rank(2)) == 4);
  CHECK(all.number_of(Rank(3)) == -1);
  const Members second = all.subset({.first = 1, .count = 3, .stride = 2});
  CHECK(second.at(0) == Rank(4));
  CHECK(second.at(2) == Rank(5));
  CHECK(second.number_of(Rank(9)) == 1);
  CHECK(second.number_of(Rank(0)) == -1);
  CHECK(second.subset({.first = 1, .count = 2, .stride = 1}).at(1) == Rank(5));
  CHECK(Members{.first = 0, .count = 10, .stride = 1}.subset(second).key() == second.key());
  CHECK(contains(refusal(4, {.first = 0, .count = 2, .stride = 1, .list = kList.data() + 1}),
                 "rank 1 is not among the 2 ranks of the list of a group"));
}

TEST_CASE("A group that the parent cannot have, or that its rank is not in, is refused") {
  CHECK(refusal(4, {.first = 1, .count = 2, .stride = 3}) ==
        "no group of 2 ranks from 1 in steps of 3 is among ranks 0 to 3");
  CHECK(contains(refusal(4, {.first = -1, .count = 2, .stride = 1}), "no group of 2 ranks"));
  CHECK(contains(refusal(4, {.first = 0, .count = 0, .stride = 1}), "no group of 0 ranks"));
  CHECK(contains(refusal(4, {.first = 0, .count = 2, .stride = 0}), "in steps of 0"));
  CHECK(refusal(4, {.first = 1, .count = 3, .stride = 1}) ==
        "rank 0 is not in the group of 3 ranks from 1 in steps of 1");
  CHECK(refusal(4, {.first = 0, .count = 2, .stride = 2}) ==
        "rank 1 is not in the group of 2 ranks from 0 in steps of 2");
  CHECK(refusal(4, {.first = 0, .count = 3, .stride = 1}) ==
        "rank 3 is not in the group of 3 ranks from 0 in steps of 1");
}

TEST_CASE("A peer beyond the group is refused though the parent has such a rank") {
  test::Networks networks;
  CHECK(error_of<SimulationError>([&] { networks.alphabeta.run(6, send_beyond); }) ==
        "rank 0 of a group names rank 2 as its peer, but ranks are 0 to 1");
}

}  // namespace thinwire::inline kernel
