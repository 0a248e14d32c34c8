// What SMPI records of the links, on platforms where it is known.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/bodies.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/smpi.hpp"

namespace thinwire::networks {

using test::empty_message;
using test::exactly;
using test::PlatformFile;

namespace {

constexpr std::int64_t kWords = 1'000'000;
constexpr double kBytes = 4e6;

/// One link as it comes out of the child.
struct Seen {
  double bandwidth = 0;
  double bytes = 0;
  double mean = 0;
  double peak = 0;
};

struct Recorded {
  std::map<std::string, Seen> links;
  double makespan = 0;
};

/// The last of `runs` runs.
Recorded recorded(const test::SmpiPlace& place, const RankProgram& program, int runs = 1) {
  test::SmpiPlace with_links = place;
  with_links.settings.record_links = true;
  std::vector<std::string> names;
  const auto work = [&](SmpiNetwork& network) {
    RunReport report;
    for (int i = 0; i < runs; ++i) report = network.run(place.ranks, program);
    std::string text;
    std::vector<double> numbers{report.makespan().value()};
    for (const LinkReport& link : report.links) {
      text += link.name + "\n";
      numbers.insert(numbers.end(), {link.bandwidth, static_cast<double>(link.carried.value()),
                                     link.mean_utilisation, link.peak_utilisation});
    }
    return text + "\n" + test::packed(numbers);
  };
  std::string text = test::text_on_smpi(with_links, work).text;
  Recorded all;
  for (std::size_t end = text.find('\n'); end > 0; end = text.find('\n')) {
    names.push_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  const test::Doubles numbers = test::unpacked(text.substr(1));
  all.makespan = numbers.front();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double* at = &numbers[1 + 4 * i];
    all.links[names[i]] = {at[0], at[1], at[2], at[3]};
  }
  CHECK(std::ranges::is_sorted(names));
  return all;
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

Task<void> exchange(Communicator& comm, int rounds, std::int64_t words) {
  const Rank peer(1 - comm.rank().value());
  for (int round = 0; round < rounds; ++round) {
    co_await comm.sendrecv(peer, empty_message(words), peer, Tag(0));
  }
}

Task<void> mostly_idle(Communicator& comm) {
  co_await comm.compute(Seconds(1));
  if (comm.rank() == Rank(0)) {
    co_await comm.wait(comm.isend(Rank(1), Tag(0), empty_message(kWords)));
  } else {
    co_await comm.wait(comm.irecv(Rank(0), Tag(0)));
  }
}

}  // namespace

TEST_CASE("SMPI counts the bytes on each link, and how full it was") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const Recorded all = recorded({.platform = file.path(), .ranks = 4}, two_flows_and_one);
  const double makespan = 14e-6 + 2.5 * kBytes / 2e9;
  CHECK(all.makespan == exactly(makespan));
  const auto check = [&](const char* name, double bandwidth, double bytes, double peak) {
    CAPTURE(std::string(name));
    REQUIRE(all.links.contains(name));
    const Seen& link = all.links.at(name);
    CHECK(link.bandwidth == bandwidth);
    CHECK(link.bytes == bytes);
    CHECK(link.mean == exactly(bytes / (bandwidth * makespan)));
    CHECK(link.peak == exactly(peak));
  };
  CHECK(all.links.size() == 5);
  check("middle", 2e9, 2.5 * kBytes, 1);
  check("port-left-0", 1e10, 1.5 * kBytes, 0.2);  // alone in the end: all that `middle` lets by
  check("port-left-1", 1e10, kBytes, 0.1);
  check("port-right-0", 1e10, 1.5 * kBytes, 0.2);
  check("port-right-1", 1e10, kBytes, 0.1);
}

TEST_CASE("SMPI counts the directions of a cable apart, and links without traffic not at all") {
  const PlatformFile file(test::two_hosts_xml({"1GBps", "3us"}));
  const Recorded both = recorded({.platform = file.path()},
                                 [](Communicator& comm) { return exchange(comm, 3, kWords); });
  REQUIRE(both.links.size() == 2);
  CHECK(both.links.at("cable_UP").bytes == 3 * kBytes);
  CHECK(both.links.at("cable_DOWN").bytes == 3 * kBytes);
  const Recorded one = recorded({.platform = file.path()}, mostly_idle);
  REQUIRE(one.links.size() == 1);
  CHECK(one.links.at("cable_UP").mean == exactly(kBytes / 1e9 / one.makespan));
  CHECK(one.links.at("cable_UP").peak == exactly(1));
}

TEST_CASE("Bytes on the links leave out the gap and SMPI's envelope, and hold for huge messages") {
  const PlatformFile file(
      test::two_hosts_xml({"1GBps", "3us"}, test::property("thinwire.message_gap", "2us")));
  for (const std::int64_t words : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7} << 30}) {
    const Recorded all = recorded({.platform = file.path()},
                                  [&](Communicator& comm) { return exchange(comm, 5, words); });
    REQUIRE(all.links.size() == 2);
    CHECK(all.links.at("cable_UP").bytes == 20 * static_cast<double>(words));
  }
}

TEST_CASE("Each run on SMPI has links of its own") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const test::SmpiPlace place{.platform = file.path(), .ranks = 4};
  const Recorded first = recorded(place, two_flows_and_one);
  const Recorded third = recorded(place, two_flows_and_one, 3);
  REQUIRE(third.links.size() == first.links.size());
  for (const auto& [name, link] : first.links) {
    CHECK(third.links.at(name).bytes == link.bytes);
    CHECK(third.links.at(name).mean == exactly(link.mean));
    CHECK(third.links.at(name).peak == exactly(link.peak));
  }
}

TEST_CASE("Recording the links on SMPI does not change a time") {
  const PlatformFile file(test::dumbbell_xml({"10GBps", "1us"}, {"2GBps", "5us"}));
  const test::SmpiPlace place{.platform = file.path(), .ranks = 4};
  const test::Doubles times = test::times_on_smpi(place, two_flows_and_one);
  CHECK(recorded(place, two_flows_and_one).makespan == *std::ranges::max_element(times));
}

}  // namespace thinwire::networks
