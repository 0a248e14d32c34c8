#include "topologies/analysis/traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/network.hpp"

namespace thinwire::topologies {

namespace {

using test::contains;
using test::error_of;
using test::Network;

std::vector<HostIndex> everybody(const Network& network) {
  std::vector<HostIndex> ranks(network.hosts());
  std::iota(ranks.begin(), ranks.end(), HostIndex{0});
  return ranks;
}

std::map<std::string, double> bytes_by_link(const Network& network, const std::string& traffic,
                                            double bytes) {
  std::map<std::string, double> result;
  for (const LinkLoad& load :
       link_loads(network.table(), traffic, everybody(network), bytes).links) {
    result[network.links()[load.link].name] = load.bytes;
  }
  return result;
}

/// Hosts 0, 1 on one switch, 2, 3 on another, a link of 2 GB/s between.
Network dumbbell() { return {4, 2, {{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 5, true, 2e9}}}; }

}  // namespace

TEST_CASE("loads of the named matrices are what a hand counts") {
  const Network network = dumbbell();
  auto loads = bytes_by_link(network, "all_to_all", 10);
  CHECK(loads["c0_UP"] == 30);
  CHECK(loads["c3_DOWN"] == 30);
  CHECK(loads["c4_UP"] == 40);
  CHECK(loads["c4_DOWN"] == 40);
  loads = bytes_by_link(network, "ring", 10);
  CHECK(loads["c4_UP"] == 10);    // 1 to 2
  CHECK(loads["c4_DOWN"] == 10);  // 3 to 0
  CHECK(loads["c2_UP"] == 10);
  loads = bytes_by_link(network, "rotation:2", 10);
  CHECK(loads["c4_UP"] == 20);
  CHECK(loads["c4_DOWN"] == 20);
  CHECK(bytes_by_link(network, "rotation:0", 10).empty());
  CHECK(bytes_by_link(network, "rotation:5", 10) == bytes_by_link(network, "rotation:1", 10));
}

TEST_CASE("the hottest link is the one that needs the most time") {
  const Network network = dumbbell();
  const Loads loads = link_loads(network.table(), "all_to_all", everybody(network), 1e9);
  CHECK(loads.messages == 12);
  CHECK(loads.bytes == 12e9);
  CHECK(loads.links.size() == 10);
  // 3 GB over 1 GB/s against 4 GB over 2 GB/s.
  CHECK(loads.links.front().time == Seconds(3));
  CHECK(loads.links.front().messages == 3);
  CHECK(loads.links.back().time == Seconds(2));
}

TEST_CASE("through a fat pipe all messages go at once") {
  Network network = dumbbell();
  for (PlatformLink& link : network.links()) link.fat_pipe = link.name.starts_with("c4");
  const Loads loads = link_loads(network.table(), "all_to_all", everybody(network), 1e9);
  CHECK(loads.links.back().time == Seconds(0.5));
  CHECK(loads.links.back().bytes == 4e9);
}

TEST_CASE("only the ranks send, and two on one host send nothing to each other") {
  const Network network = dumbbell();
  const std::vector<HostIndex> ranks{0, 2, 2};
  const Loads loads = link_loads(network.table(), "all_to_all", ranks, 1);
  CHECK(loads.messages == 4);
  CHECK(link_loads(network.table(), "ring", std::vector<HostIndex>{1}, 1).links.empty());
  CHECK(link_loads(network.table(), "all_to_all", std::vector<HostIndex>{}, 1).messages == 0);
}

TEST_CASE("a file of messages is read, and its mistakes are named with their line") {
  const test::TemporaryFolder folder;
  const Network network = dumbbell();
  const auto loads = [&](const std::string& text) {
    return link_loads(network.table(), folder.write("t.csv", text), everybody(network), 7);
  };
  const Loads good = loads("from,to,bytes\n# two messages\nh0, h3, 1e3 # one\r\n\nh1,h0,24\n");
  CHECK(good.messages == 2);
  CHECK(good.bytes == 1024);
  const auto refusal = [&](const std::string& text) {
    return error_of<InputError>([&] { (void)loads(text); });
  };
  CHECK(contains(refusal("h0,h1,1\nh0,h9,1\n"), "t.csv:2: unknown host 'h9'"));
  CHECK(contains(refusal("h0,h1\n"), "t.csv:1: 'h0,h1' is not valid; expected from,to,bytes"));
  CHECK(contains(refusal("h0,h1,1,1\n"), "is not valid"));
  CHECK(contains(refusal("h0,h1,-1\n"), "is not valid"));
  CHECK(contains(refusal("h0,h1,many\n"), "is not valid"));
  CHECK(contains(error_of<InputError>(
                     [&] { (void)link_loads(network.table(), "./no.csv", everybody(network), 1); }),
                 "./no.csv: cannot be read"));
}

TEST_CASE("traffic that nobody knows is refused with what would be right") {
  const Network network = dumbbell();
  const auto refusal = [&](const std::string& traffic) {
    return error_of<InputError>(
        [&] { (void)link_loads(network.table(), traffic, everybody(network), 1); });
  };
  CHECK(refusal("alltoall") == "unknown traffic 'alltoall'; did you mean 'all_to_all'?");
  CHECK(contains(refusal("rotation:x"), "as in rotation:1"));
  CHECK(contains(refusal("rotation:"), "as in rotation:1"));
  const Network apart(2, 0, {});
  CHECK(contains(
      error_of<InputError>([&] { (void)link_loads(apart.table(), "ring", everybody(apart), 1); }),
      "there is no route from h0 to h1"));
}

}  // namespace thinwire::topologies
