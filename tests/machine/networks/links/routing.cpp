// Paths beyond SimGrid's routes: Valiant's detours, those that adapt, and the many of a fat tree.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"

namespace thinwire::networks {

using test::PlatformFile;
using test::RecordedRun;

namespace {

/// Four groups of 16 hosts, one cable between each two.
PlatformFile dragonfly() {
  return test::made_platform(
      "dragonfly",
      {{"groups", "4"}, {"chassis", "2"}, {"routers", "4"}, {"nodes", "2"}, {"blue-cables", "1"}});
}

/// Leaves of eight hosts and eight cables up.
PlatformFile small_fat_tree() {
  return test::made_platform("fat_tree", {{"children", "8,16"}, {"oversubscription", "1"}});
}

RecordedRun run(const PlatformFile& platform, int ranks, LinkRouting routing,
                const RankProgram& program, std::uint64_t seed = 1) {
  return test::recorded_on_links(
      {.platform = platform.path(), .ranks = ranks, .settings = {.routing = routing, .seed = seed}},
      program);
}

/// Rank r of each group sends to rank r of the next one: all of it by one cable a group.
RankProgram group_to_group(std::int64_t words) {
  return [words](Communicator& comm) { return test::shifts(comm, words, 4, 16); };
}

/// Bytes that the fullest cable between groups carried.
double hottest_blue(const RecordedRun& run) {
  double most = 0;
  for (const auto& [name, link] : run.links) {
    if (name.find("blue") != std::string::npos) most = std::max(most, link.bytes);
  }
  return most;
}

/// The hosts of the first leaf send to one host of each of eight other leaves, whose numbers leave
/// the same residue: D-mod-k sends all of them up by the same switch.
Task<void> same_residues(Communicator& comm, std::int64_t words) {
  const int rank = comm.rank().value();
  if (rank < 8) {
    co_await comm.wait(comm.isend(Rank(8 * (rank + 1)), Tag(0), test::empty_message(words)));
  } else if (rank % 8 == 0 && rank <= 64) {
    co_await comm.wait(comm.irecv(Rank(rank / 8 - 1), Tag(0)));
  }
}

const RankProgram kSameResidues = [](Communicator& comm) { return same_residues(comm, 1'000'000); };

}  // namespace

TEST_CASE("Valiant's detours are longer, and take the load off the cable between two groups") {
  const PlatformFile platform = dragonfly();
  const RankProgram program = group_to_group(100'000);
  const RecordedRun minimal = run(platform, 64, LinkRouting::minimal, program);
  const RecordedRun valiant = run(platform, 64, LinkRouting::valiant, program);
  CHECK(valiant.bytes() > 1.1 * minimal.bytes());
  CHECK(hottest_blue(minimal) == 4 * 16 * 400'000.0);
  CHECK(hottest_blue(valiant) < 0.75 * hottest_blue(minimal));
  CHECK(valiant.makespan() < minimal.makespan());
}

TEST_CASE("Adaptive routing is close to the better of both where one group sends to another") {
  const PlatformFile platform = dragonfly();
  for (const std::int64_t words : {1000, 100'000}) {
    CAPTURE(words);
    const RankProgram program = group_to_group(words);
    const double minimal = run(platform, 64, LinkRouting::minimal, program).makespan();
    const double valiant = run(platform, 64, LinkRouting::valiant, program).makespan();
    const double ugal = run(platform, 64, LinkRouting::ugal, program).makespan();
    CHECK(ugal < std::max(minimal, valiant));
    CHECK(ugal < 1.2 * std::min(minimal, valiant));  // seen: 1.1
  }
}

TEST_CASE("Adaptive routing stays on the shortest ways where there is little traffic") {
  const PlatformFile platform = dragonfly();
  // One host of each router sends at a time, to a rank of another group each.
  const RankProgram program = [](Communicator& comm) { return test::shifts(comm, 1000, 3, 21); };
  const RecordedRun minimal = run(platform, 16, LinkRouting::minimal, program);
  const RecordedRun ugal = run(platform, 16, LinkRouting::ugal, program);
  CHECK(ugal.makespan() < 1.1 * minimal.makespan());
  CHECK(ugal.bytes() < 1.2 * minimal.bytes());
  // A message that is alone has no reason to stray.
  const RankProgram one = [](Communicator& comm) { return test::to_the_other_half(comm, 10'000); };
  const test::LinksPlace place{.platform = platform.path(), .ranks = 2, .hosts = {0, 40}};
  test::LinksPlace adaptive = place;
  adaptive.settings.routing = LinkRouting::ugal;
  const RecordedRun alone = test::recorded_on_links(place, one);
  const RecordedRun adapted = test::recorded_on_links(adaptive, one);
  CHECK(adapted.bytes_by_link() == alone.bytes_by_link());
  CHECK(adapted.times == alone.times);
}

TEST_CASE("Equal cost multi-path spreads what D-mod-k sends up by one switch") {
  const PlatformFile platform = small_fat_tree();
  const RecordedRun minimal = run(platform, 128, LinkRouting::minimal, kSameResidues);
  CHECK(minimal.most_bytes() == 8 * 4e6);
  int best = 8;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const RecordedRun ecmp = run(platform, 128, LinkRouting::ecmp, kSameResidues, seed);
    CHECK(ecmp.most_bytes() < minimal.most_bytes());
    CHECK(ecmp.makespan() < minimal.makespan());
    CHECK(ecmp.bytes() == minimal.bytes());  // no way is longer
    best = std::min(best, static_cast<int>(ecmp.most_bytes() / 4e6));
  }
  CHECK(best <= 3);
}

TEST_CASE("Every routing is the same for the same seed, and another for others") {
  const PlatformFile tree = small_fat_tree();
  const PlatformFile groups = dragonfly();
  const RankProgram program = group_to_group(10'000);
  for (const LinkRouting routing : {LinkRouting::valiant, LinkRouting::ugal, LinkRouting::ecmp}) {
    CAPTURE(static_cast<int>(routing));
    const bool on_tree = routing == LinkRouting::ecmp;
    const auto once = [&](std::uint64_t seed) {
      return on_tree ? run(tree, 128, routing, kSameResidues, seed)
                     : run(groups, 64, routing, program, seed);
    };
    const RecordedRun first = once(1);
    const RecordedRun again = once(1);
    CHECK(again.times == first.times);
    CHECK(again.bytes_by_link() == first.bytes_by_link());
    bool others = false;
    for (std::uint64_t seed = 2; seed < 5; ++seed) {
      others = others || once(seed).bytes_by_link() != first.bytes_by_link();
    }
    CHECK(others);
  }
  // SimGrid's routes know no seed.
  CHECK(run(groups, 64, LinkRouting::minimal, program, 2).times ==
        run(groups, 64, LinkRouting::minimal, program, 1).times);
}

TEST_CASE("Where there is one way only, every routing takes it") {
  const PlatformFile star(test::star_xml(6, {"10GBps", "1us"}));
  const PlatformFile dumbbell(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const PlatformFile cable(test::two_hosts_xml());
  const PlatformFile bridges =
      test::made_platform("nvlink_ib", {{"nodes", "1"}, {"gpus", "4"}, {"nics", "1"}});
  const auto check = [](const std::string& path, int ranks) {
    const RankProgram program = [](Communicator& comm) { return test::all_to_all(comm, 1000, 2); };
    const RecordedRun minimal =
        test::recorded_on_links({.platform = path, .ranks = ranks}, program);
    for (const LinkRouting routing : {LinkRouting::valiant, LinkRouting::ugal, LinkRouting::ecmp}) {
      CAPTURE(path);
      CAPTURE(static_cast<int>(routing));
      const RecordedRun other = test::recorded_on_links(
          {.platform = path, .ranks = ranks, .settings = {.routing = routing}}, program);
      CHECK(other.times == minimal.times);
      CHECK(other.bytes_by_link() == minimal.bytes_by_link());
    }
  };
  check(star.path(), 6);
  check(dumbbell.path(), 4);
  check(cable.path(), 2);
  check(bridges.path(), 4);
}

}  // namespace thinwire::networks
