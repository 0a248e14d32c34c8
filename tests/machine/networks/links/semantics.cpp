// What a message waits for, what it shares, and what is recorded of it.
#include "sim/machine/networks/links/links.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/timeline.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::networks {

using test::contains;
using test::Doubles;
using test::empty_message;
using test::error_of;
using test::exactly;
using test::PlatformFile;
using test::times_on_links;

namespace {

constexpr std::int64_t kWords = 1'000'000;
constexpr double kBytes = 4e6;

/// Rank 1 comes a second late.
Task<void> late_receiver(Communicator& comm, std::int64_t words) {
  if (comm.rank() == Rank(0)) {
    co_await comm.wait(comm.isend(Rank(1), Tag(0), empty_message(words)));
  } else {
    co_await comm.compute(Seconds(1));
    co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
  }
}

/// Rank 0 comes a second late.
Task<void> late_sender(Communicator& comm, std::int64_t words) {
  if (comm.rank() == Rank(0)) {
    co_await comm.compute(Seconds(1));
    co_await comm.wait(comm.isend(Rank(1), Tag(0), empty_message(words)));
  } else {
    co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
  }
}

/// Every rank to itself, and to the next one.
Task<void> to_itself(Communicator& comm, std::int64_t words) {
  co_await comm.sendrecv(comm.rank(), empty_message(words), comm.rank(), Tag(1));
  co_await test::ring(comm, words, 1);
}

/// Ranks 0 and 1 send to ranks 2 and 3; rank 0 then sends half as much once more.
Task<void> two_flows_and_one(Communicator& comm) {
  const int rank = comm.rank().value();
  if (rank < 2) {
    co_await comm.wait(comm.isend(Rank(rank + 2), Tag(0), empty_message(kWords)));
    if (rank == 0) co_await comm.wait(comm.isend(Rank(2), Tag(0), empty_message(kWords / 2)));
  } else {
    co_await comm.wait(comm.irecv(Rank(rank - 2), Tag(0)));
    if (rank == 2) co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
  }
}

Task<void> one_message(Communicator& comm, std::int64_t words) {
  return test::to_the_other_half(comm, words);
}

/// Both strands of rank 0 send to rank 1, at the same time.
Task<void> two_strands(Communicator& comm) {
  const Request started =
      comm.start([](Communicator& strand) { return test::to_the_other_half(strand, kWords); });
  co_await test::to_the_other_half(comm, kWords);
  co_await comm.wait(started);
}

/// Hosts a and b on one link for both directions.
std::string half_duplex_xml() {
  return test::platform_xml(R"(<zone id="world" routing="Full">
      <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
      <link id="bus" bandwidth="1GBps" latency="1us"/>
      <route src="a" dst="b"><link_ctn id="bus"/></route></zone>)");
}

/// Hosts h-0 ..., each with a loopback link of its own.
std::string loopback_xml(int hosts) {
  return test::platform_xml(
      fmt::format("<zone id=\"world\" routing=\"Full\">\n"
                  "<cluster id=\"star\" prefix=\"h-\" radical=\"0-{}\" suffix=\"\" speed=\"1Gf\" "
                  "bw=\"1GBps\" lat=\"1us\" loopback_bw=\"4GBps\" loopback_lat=\"100ns\" "
                  "sharing_policy=\"SPLITDUPLEX\"/></zone>",
                  hosts - 1));
}

/// Hosts a and b with so many links between them.
std::string chain_xml(int links) {
  std::string body = R"(<zone id="world" routing="Full">
      <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>)";
  std::string route;
  for (int i = 0; i < links; ++i) {
    body += fmt::format(R"(<link id="l-{}" bandwidth="1GBps" latency="1us"/>)", i);
    route += fmt::format(R"(<link_ctn id="l-{}"/>)", i);
  }
  return test::platform_xml(body + R"(<route src="a" dst="b">)" + route + "</route></zone>");
}

/// Rank 0 sends to rank 1 while rank 1 does the same, on one host or two.
Task<void> exchange(Communicator& comm) {
  const Rank peer(1 - comm.rank().value());
  co_await comm.sendrecv(peer, empty_message(kWords), peer, Tag(0));
}

/// What the timeline of a run says: how many messages, how many of them have times in the wrong
/// order, the bytes that they should have put on all links, and the ranks' times.
struct Told {
  double messages = 0;
  double wrong = 0;
  double bytes = 0;
  Doubles times;
};

Told told_on(const test::LinksPlace& place, const RankProgram& program) {
  const Doubles numbers = test::on_links(place, [&](LinksNetwork& network) {
    std::vector<Rank> all;
    for (int rank = 0; rank < place.ranks; ++rank) all.emplace_back(rank);
    Timeline timeline(all);
    network.record(&timeline);
    const std::vector<topologies::HostIndex> hosts =
        place.hosts.empty()
            ? thinwire::topologies::place(network.platform().hosts(), place.ranks, "block")
            : place.hosts;
    const Doubles times = test::finished_of(network.run(place.ranks, program));
    Doubles said{0, 0, 0};
    for (const MessageTimes& message : timeline.messages()) {
      said[0] += 1;
      const bool right = message.posted <= message.send_begin &&
                         message.send_begin <= message.send_end &&
                         message.send_begin <= message.receive_begin &&
                         message.receive_begin <= message.receive_end &&
                         message.receive_end <= Seconds(std::ranges::max(times));
      if (!right) said[1] += 1;
      const topologies::Route route =
          network.platform().route(hosts[static_cast<std::size_t>(message.from.value())],
                                   hosts[static_cast<std::size_t>(message.to.value())]);
      said[2] += static_cast<double>(to_bytes(message.words).value()) *
                 static_cast<double>(route.links.size());
    }
    said.insert(said.end(), times.begin(), times.end());
    return said;
  });
  return {numbers[0], numbers[1], numbers[2], {numbers.begin() + 3, numbers.end()}};
}

}  // namespace

TEST_CASE("A message on links takes gap, latencies and its bytes at the slowest link") {
  const PlatformFile star(
      test::star_xml(2, {"1GBps", "3us"}, test::property("thinwire.message_gap", "2us")));
  const PlatformFile cable(
      test::two_hosts_xml({"1GBps", "3us"}, test::property("thinwire.message_gap", "2us")));
  for (const std::int64_t words : {std::int64_t{0}, std::int64_t{1}, kWords}) {
    const RankProgram program = [&](Communicator& comm) { return one_message(comm, words); };
    const double bytes = 4 * static_cast<double>(words);
    CAPTURE(words);
    const Doubles two_links = times_on_links({.platform = star.path()}, program);
    CHECK(two_links[0] == exactly(2e-6 + 6e-6 + bytes / 1e9));
    CHECK(two_links[1] == two_links[0]);
    const Doubles one_link = times_on_links({.platform = cable.path()}, program);
    CHECK(one_link[0] == exactly(2e-6 + 3e-6 + bytes / 1e9));
    CHECK(one_link[1] == one_link[0]);
  }
}

TEST_CASE("A message on shared links waits for its receiver, and an eager one does not") {
  const PlatformFile file(test::two_hosts_xml({"1GBps", "3us"}));
  const RankProgram program = [](Communicator& comm) { return late_receiver(comm, kWords); };
  const Doubles rendezvous = times_on_links({.platform = file.path()}, program);
  CHECK(rendezvous[0] == exactly(1 + 3e-6 + kBytes / 1e9));
  CHECK(rendezvous[1] == rendezvous[0]);
  const auto with_limit = [&](std::int64_t bytes) {
    return times_on_links({.platform = file.path(), .settings = {.host = {.eager = Bytes(bytes)}}},
                          program);
  };
  const Doubles eager = with_limit(4 * kWords);
  CHECK(eager[0] == exactly(kBytes / 1e9));
  CHECK(eager[1] == 1);
  CHECK(with_limit(4 * kWords - 1) == rendezvous);
}

TEST_CASE("A receiver that is early waits for the sender, eager or not") {
  const PlatformFile file(test::two_hosts_xml({"1GBps", "3us"}));
  const RankProgram program = [](Communicator& comm) { return late_sender(comm, kWords); };
  for (const std::int64_t limit : {std::int64_t{0}, 4 * kWords}) {
    const Doubles times = times_on_links(
        {.platform = file.path(), .settings = {.host = {.eager = Bytes(limit)}}}, program);
    CHECK(times[1] == exactly(1 + 3e-6 + kBytes / 1e9));
  }
}

TEST_CASE("Two messages share a link, and the one that stays has all of it") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const test::RecordedRun run =
      test::recorded_on_links({.platform = file.path(), .ranks = 4}, two_flows_and_one);
  CHECK(run.makespan() == exactly(14e-6 + 2.5 * kBytes / 2e9));
  CHECK(run.times[1] == exactly(7e-6 + 2 * kBytes / 2e9));
  CHECK(run.links.at("middle").bytes == 2.5 * kBytes);
  CHECK(run.links.at("port-right-1").bytes == kBytes);
  CHECK(run.links.at("middle").mean == exactly(2.5 * kBytes / 2e9 / run.makespan()));
  CHECK(run.links.at("middle").peak <= 1 + 1e-6);
}

TEST_CASE("A fat pipe is shared by nobody") {
  const PlatformFile file(
      test::with_fat_middle(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"})));
  const Doubles times = times_on_links({.platform = file.path(), .ranks = 4}, two_flows_and_one);
  CHECK(times[1] == exactly(7e-6 + kBytes / 2e9));
  CHECK(times[0] == exactly(14e-6 + 1.5 * kBytes / 2e9));
}

TEST_CASE("A bus is shared by both directions, and a cable's directions are apart") {
  const PlatformFile bus(half_duplex_xml());
  const PlatformFile cable(test::two_hosts_xml());
  CHECK(times_on_links({.platform = bus.path()}, exchange)[0] == exactly(1e-6 + 2 * kBytes / 1e9));
  CHECK(times_on_links({.platform = cable.path()}, exchange)[0] == exactly(1e-6 + kBytes / 1e9));
}

TEST_CASE("A rank alone needs no links") {
  const PlatformFile file(test::star_xml(1));
  const Doubles times =
      times_on_links({.platform = file.path(), .ranks = 1}, [](Communicator& comm) {
        return [](Communicator& self) -> Task<void> { co_await self.compute(Seconds(2)); }(comm);
      });
  CHECK(times == Doubles{2});
}

TEST_CASE("Ranks send to themselves on every kind of platform, also where links are recorded") {
  const PlatformFile star(test::star_xml(3, {"1GBps", "1us"}));
  const PlatformFile loopback(loopback_xml(3));
  const PlatformFile cable(test::two_hosts_xml());
  const PlatformFile tree = test::made_platform("fat_tree", {{"children", "2,2"}});
  const PlatformFile groups = test::made_platform(
      "dragonfly", {{"groups", "2"}, {"chassis", "1"}, {"routers", "2"}, {"nodes", "1"}});
  for (const PlatformFile* file : {&star, &loopback, &cable, &tree, &groups}) {
    for (const LinkRouting routing : {LinkRouting::minimal, LinkRouting::ugal}) {
      for (const std::int64_t words : {std::int64_t{0}, kWords}) {
        const test::LinksPlace place{.platform = file->path(), .settings = {.routing = routing}};
        const RankProgram program = [&](Communicator& comm) { return to_itself(comm, words); };
        const test::RecordedRun run = test::recorded_on_links(place, program);
        CHECK(run.times == times_on_links(place, program));
        CHECK(std::isfinite(run.makespan()));
        CHECK(run.makespan() >= 4 * static_cast<double>(words) / 25e9);
      }
    }
  }
}

TEST_CASE("A loopback link is fast, and its host's ports are not in use") {
  const PlatformFile file(loopback_xml(2));
  const Doubles times =
      times_on_links({.platform = file.path(), .ranks = 2}, [](Communicator& comm) {
        return [](Communicator& self) -> Task<void> {
          co_await self.sendrecv(self.rank(), empty_message(kWords), self.rank(), Tag(0));
        }(comm);
      });
  CHECK(times[0] == exactly(1e-7 + kBytes / 4e9));
}

TEST_CASE("Ranks on the same host share its ports fairly, as on SMPI") {
  const PlatformFile file(test::star_xml(4, {"1GBps", "1us"}));
  const std::vector<topologies::HostIndex> hosts{0, 0, 1, 2};
  const RankProgram program = [](Communicator& comm) {
    return test::to_the_other_half(comm, kWords);
  };
  const Doubles times =
      times_on_links({.platform = file.path(), .ranks = 4, .hosts = hosts}, program);
  for (const double time : times) CHECK(time == exactly(2e-6 + 2 * kBytes / 1e9));
  const Doubles smpi =
      test::times_on_smpi({.platform = file.path(), .ranks = 4, .hosts = hosts}, program);
  for (std::size_t i = 0; i < smpi.size(); ++i) CHECK(times[i] == exactly(smpi[i]));
}

TEST_CASE("Ranks on the same host send to one another as SMPI says") {
  const PlatformFile star(test::star_xml(4, {"1GBps", "1us"}));
  const PlatformFile loopback(loopback_xml(4));
  for (const PlatformFile* file : {&star, &loopback}) {
    const std::vector<topologies::HostIndex> hosts{1, 1};
    const RankProgram program = [](Communicator& comm) { return one_message(comm, kWords); };
    const Doubles times = times_on_links({.platform = file->path(), .hosts = hosts}, program);
    CHECK(times[1] ==
          exactly(test::times_on_smpi({.platform = file->path(), .hosts = hosts}, program)[1]));
  }
}

TEST_CASE("Both strands of a rank send by its port") {
  // One after the other by a port; at the same time on shared links.
  const PlatformFile star(test::star_xml(2, {"1GBps", "1us"}));
  const PlatformFile cable(test::two_hosts_xml());
  const PlatformFile bottleneck(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  CHECK(std::ranges::max(times_on_links({.platform = star.path()}, two_strands)) ==
        exactly(2e-6 + 2 * kBytes / 1e9));
  CHECK(std::ranges::max(times_on_links({.platform = cable.path()}, two_strands)) >=
        1e-6 + 2 * kBytes / 1e9);
  const test::LinksPlace across{.platform = bottleneck.path(), .hosts = {0, 2}};
  CHECK(std::ranges::max(times_on_links(across, two_strands)) >= 7e-6 + 2 * kBytes / 2e9);
  CHECK(std::ranges::max(times_on_links(across, two_strands)) < 14.1e-6 + 2 * kBytes / 2e9);
}

TEST_CASE("The times of a message are in order, and telling them changes none of a run") {
  const PlatformFile groups = test::made_platform(
      "dragonfly", {{"groups", "3"}, {"chassis", "2"}, {"routers", "3"}, {"nodes", "2"}});
  const PlatformFile star(test::star_xml(6));
  const PlatformFile bottleneck(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const auto check = [](const std::string& path, int ranks, const LinksSettings& settings) {
    CAPTURE(path);
    const test::LinksPlace place{.platform = path, .ranks = ranks, .settings = settings};
    const RankProgram program = [](Communicator& comm) { return test::all_to_all(comm, 5000, 3); };
    const Told told = told_on(place, program);
    CHECK(told.messages == ranks * (ranks - 1));
    CHECK(told.wrong == 0);
    CHECK(told.times == times_on_links(place, program));
    const test::RecordedRun recorded = test::recorded_on_links(place, program);
    CHECK(recorded.times == told.times);
    if (settings.routing == LinkRouting::minimal) CHECK(recorded.bytes() == told.bytes);
    CHECK(recorded.highest_peak() <= 1 + 1e-6);
  };
  for (const LinkRouting routing :
       {LinkRouting::minimal, LinkRouting::valiant, LinkRouting::ugal}) {
    check(groups.path(), 24, {.routing = routing});
  }
  check(groups.path(), 24, {.host = {.eager = Bytes(20'010)}});
  check(groups.path(), 24, {.background_share = 0.5});
  check(star.path(), 6, {});
  check(bottleneck.path(), 4, {});
}

TEST_CASE("No link is ever more than full, also where many send to one") {
  const PlatformFile star(test::star_xml(16));
  const PlatformFile tree = test::made_platform("fat_tree", {{"children", "4,4"}});
  for (const PlatformFile* file : {&star, &tree}) {
    const test::RecordedRun run =
        test::recorded_on_links({.platform = file->path(), .ranks = 16},
                                [](Communicator& comm) { return test::incast(comm, 100'000); });
    CHECK(run.highest_peak() <= 1 + 1e-6);
    CHECK(run.highest_peak() > 0.9);
  }
}

TEST_CASE("A run on links does not depend on those before it") {
  const PlatformFile tree = test::made_platform("fat_tree", {{"children", "4,4"}});
  for (const LinkRouting routing : {LinkRouting::minimal, LinkRouting::ugal}) {
    const RankProgram program = [](Communicator& comm) { return test::all_to_all(comm, 5000, 3); };
    const Doubles differences =
        test::on_links({.platform = tree.path(), .ranks = 12, .settings = {.routing = routing}},
                       [&](LinksNetwork& network) {
                         const Doubles first = test::finished_of(network.run(12, program));
                         const Doubles second = test::finished_of(network.run(12, program));
                         return Doubles{first == second ? 0.0 : 1.0};
                       });
    CHECK(differences[0] == 0);
  }
}

TEST_CASE("A route of 27 shared links works, as of a torus of 16 x 16 x 16, and more are refused") {
  const RankProgram program = [](Communicator& comm) { return one_message(comm, kWords); };
  const PlatformFile most(chain_xml(27));
  CHECK(times_on_links({.platform = most.path()}, program)[1] == exactly(27e-6 + kBytes / 1e9));
  for (const int links : {28, 33, 70}) {
    const PlatformFile more(chain_xml(links));
    const std::string error =
        error_of<InputError>([&] { (void)times_on_links({.platform = more.path()}, program); });
    CHECK(contains(error, std::to_string(links) + " links"));
    CHECK(contains(error, "at most 27"));
  }
}

}  // namespace thinwire::networks
