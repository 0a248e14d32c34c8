#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/generators/quantities.hpp"

namespace thinwire::topologies {

namespace {

using test::contains;
using test::error_of;
using test::on_platform;

using Given = std::map<std::string, std::string>;

/// "hosts/nodes/links": SimGrid's own loopback link is one of them.
std::string counts_of(const std::string& name, const Given& given) {
  const test::TemporaryFolder folder;
  return on_platform(folder.write("p.xml", make_platform(family(name), given)),
                     [](const Platform& platform) {
                       std::set<std::string> nodes;
                       for (const PlatformHost& host : platform.hosts()) nodes.insert(host.node);
                       return fmt::format("{}/{}/{}", platform.hosts().size(), nodes.size(),
                                          platform.links().size());
                     });
}

std::string refusal(const std::string& name, const Given& given) {
  return error_of<InputError>([&] { (void)make_platform(family(name), given); });
}

int choose_two(int n) { return n * (n - 1) / 2; }

}  // namespace

TEST_CASE("every family takes racks of hosts, a bandwidth and a latency") {
  const Given racks{{"racks", "2"}, {"hosts-per-rack", "32"}, {"bandwidth", "25Gbps"}};
  for (const Family& one : all_families()) {
    CAPTURE(one.name);
    Given given = racks;
    given["latency"] = "2us";
    CHECK(counts_of(one.name, given).starts_with("64/"));
    CHECK(contains(make_platform(one, given), "3.125GBps"));
    CHECK(counts_of(one.name, {{"racks", "2"}, {"hosts", "64"}}).starts_with("64/"));
    CHECK(counts_of(one.name, {{"hosts-per-rack", "32"}, {"hosts", "64"}}).starts_with("64/"));
    CHECK(contains(refusal(one.name, {{"racks", "2"}}), "give hosts-per-rack too, or hosts"));
    CHECK(contains(refusal(one.name, {{"hosts-per-rack", "2"}}), "give racks too, or hosts"));
    CHECK(contains(refusal(one.name, {{"racks", "2"}, {"hosts-per-rack", "32"}, {"hosts", "65"}}),
                   "2 racks of 32 hosts are 64 hosts, not 65"));
    for (const std::string& name : one.also) CHECK(family(name).name == one.name);
  }
  const auto made = [&](const std::string& name, const Given& more) {
    Given given = racks;
    given.insert(more.begin(), more.end());
    return make_platform(family(name), given);
  };
  const Given oversubscribed{{"oversubscription", "4"}};
  CHECK(contains(made("leaf_spine", oversubscribed), "topo_parameters=\"2;32,2;1,8;1,1\""));
  CHECK(contains(made("star", oversubscribed), "uplink=25GBps"));
  CHECK(contains(made("dragonfly", oversubscribed),
                 "dragonfly groups=2 chassis=1 routers=8 nodes=4 cables=8"));
  CHECK(contains(made("megafly", oversubscribed),
                 "dragonfly_plus cells=2 leaves=4 nodes=8 spines=8 cables=8"));
  CHECK(contains(made("torus", {}), "torus x=8 y=4 z=2 a=1 b=1 c=1"));
  CHECK(contains(made("torus", {}), "port-bandwidth=18.75GBps"));
  CHECK(contains(made("nvlink", {}), "nodes=8 gpus=8 nics=8 wiring=rails leaf-nodes=4"));
  CHECK(contains(made("rails", {}), "rails islands=2 nodes=8 gpus=4"));
  CHECK(contains(refusal("nvlink_ib", {{"racks", "2"}, {"hosts-per-rack", "30"}}),
                 "a rack of 30 GPUs has no whole number of nodes of 8 GPUs"));
  CHECK(contains(refusal("fat_tree", {{"racks", "2"}, {"hosts", "64"}, {"children", "4,4"}}),
                 "racks of hosts set children"));
  CHECK(contains(refusal("fat_tree", {{"racks", "2"}, {"hosts", "80"}, {"oversubscription", "3"}}),
                 "near are 2.85714 and 3.07692"));
  CHECK(contains(refusal("star", {{"oversubscription", "3"}}), "one switch has no cables"));
}

TEST_CASE("bandwidths and times are read in every unit and written in the largest") {
  CHECK(parse_bandwidth("5.25GBps", "x") == 5.25e9);
  CHECK(parse_bandwidth("25Gbps", "x") == 3.125e9);
  CHECK(parse_bandwidth("8bps", "x") == 1);
  CHECK(parse_bandwidth("1e3MBps", "x") == 1e9);
  CHECK(bandwidth_text(3.125e9) == "3.125GBps");
  CHECK(bandwidth_text(118.2e6) == "118.2MBps");
  CHECK(bandwidth_text(73 * 4.7e9) == "343.1GBps");
  CHECK(bandwidth_text(1e12) == "1TBps");
  CHECK(bandwidth_text(0.5) == "0.5Bps");
  CHECK(parse_time("100ns", "x") == Seconds(1e-7));
  CHECK(parse_time("0s", "x") == Seconds(0));
  CHECK(parse_time("2us", "x") == Seconds(2e-6));
  CHECK(time_text(Seconds(2e-6)) == "2us");
  CHECK(time_text(Seconds(0)) == "0s");
  CHECK(time_text(Seconds(1.115e-6)) == "1.115us");
  CHECK(time_text(Seconds(1e-7)) == "100ns");
  CHECK(time_text(Seconds(1.5)) == "1.5s");
  for (const char* text : {"", "5", "GBps", "5 GBps", "-5GBps", "0GBps", "nanGBps", "5Gbit"}) {
    CAPTURE(std::string(text));
    CHECK(contains(error_of<InputError>([&] { (void)parse_bandwidth(text, "it"); }),
                   "it: '" + std::string(text) + "' is not valid; expected a bandwidth"));
  }
  for (const char* text : {"", "5", "us", "-1us", "1 us", "1sec", "infs"}) {
    CHECK(contains(error_of<InputError>([&] { (void)parse_time(text, "it"); }), "expected a time"));
  }
}

TEST_CASE("a dragonfly has the hosts and cables that its parameters say") {
  for (const auto& [g, c, r, n] : std::array<std::array<int, 4>, 6>{
           {{1, 1, 1, 1}, {1, 1, 1, 5}, {2, 1, 2, 3}, {3, 2, 4, 2}, {4, 3, 4, 1}, {1, 6, 16, 4}}}) {
    CAPTURE(g);
    CAPTURE(c);
    const int hosts = g * c * r * n;
    const int cables = hosts + g * c * choose_two(r) + g * choose_two(c) * r + 5 * choose_two(g);
    std::map<std::string, std::string> parameters{{"groups", std::to_string(g)},
                                                  {"chassis", std::to_string(c)},
                                                  {"routers", std::to_string(r)},
                                                  {"nodes", std::to_string(n)}};
    if (g > 1) parameters["blue-cables"] = "5";
    CHECK(counts_of("dragonfly", parameters) == fmt::format("{0}/{0}/{1}", hosts, 2 * cables + 1));
  }
}

TEST_CASE("a Dragonfly+ has the hosts and cables that its parameters say") {
  // Hosts, leaves x spines of each cell, cables between any two cells.
  CHECK(counts_of("dragonfly_plus", {{"cells", "3"},
                                     {"leaves", "2"},
                                     {"spines", "4"},
                                     {"nodes", "5"},
                                     {"global-cables", "7"}}) ==
        fmt::format("30/30/{}", 2 * (30 + 3 * 2 * 4 + 3 * 7) + 1));
  CHECK(counts_of("dragonfly_plus",
                  {{"cells", "1"}, {"leaves", "1"}, {"spines", "1"}, {"nodes", "1"}}) ==
        fmt::format("1/1/{}", 2 * (1 + 1) + 1));
}

TEST_CASE("rails have the GPUs and cables that their parameters say, and name their nodes") {
  // NICs and NVLinks, and an uplink for each rail of an island; a single switch needs no core.
  CHECK(counts_of("rails", {{"islands", "2"}, {"nodes", "3"}, {"gpus", "4"}}) ==
        fmt::format("24/6/{}", 2 * (24 + 24 + 8) + 1));
  CHECK(counts_of("rails", {{"islands", "1"}, {"nodes", "3"}, {"gpus", "1"}}) ==
        fmt::format("3/3/{}", 2 * (3 + 3) + 1));
}

TEST_CASE("a torus has the hosts and cables that its parameters say") {
  // A port for each host, and a cable for each host and dimension; a ring of two hosts has one.
  CHECK(counts_of("torus", {{"dims", "3,4,5"}}) == fmt::format("60/60/{}", 2 * (60 + 3 * 60) + 1));
  CHECK(counts_of("torus", {{"dims", "3,1,4,2,3,2"}}) ==
        fmt::format("144/144/{}", 2 * (144 + 3 * 144 + 2 * 72) + 1));
  CHECK(counts_of("torus", {{"dims", "1"}}) == "1/1/3");
}

TEST_CASE("a fat tree has the hosts and cables that its parameters say") {
  // Level by level: elements below x parents x cables.
  CHECK(counts_of("fat_tree", {{"children", "4"}, {"oversubscription", "1"}}) == "4/4/9");
  CHECK(counts_of("fat_tree", {{"children", "8,4"}, {"oversubscription", "4"}}) ==
        fmt::format("32/32/{}", 2 * (32 + 4 * 2) + 1));
  CHECK(
      counts_of("fat_tree", {{"children", "8,4"}, {"oversubscription", "2"}, {"cables", "1,2"}}) ==
      fmt::format("32/32/{}", 2 * (32 + 4 * 2 * 2) + 1));
  CHECK(counts_of("fat_tree", {{"children", "4,4,2"}, {"oversubscription", "2,1"}}) ==
        fmt::format("32/32/{}", 2 * (32 + 8 * 2 + 4 * 4) + 1));
}

TEST_CASE(
    "NVLink nodes have the hosts and cables that their parameters say, and name their nodes") {
  const auto counts = [](int nodes, int gpus, int nics, int leaf, const char* wiring) {
    return counts_of("nvlink_ib", {{"nodes", std::to_string(nodes)},
                                   {"gpus", std::to_string(gpus)},
                                   {"nics", std::to_string(nics)},
                                   {"wiring", wiring},
                                   {"leaf-nodes", std::to_string(leaf)}});
  };
  const auto expected = [](int nodes, int gpus, int cables, int weights) {
    return fmt::format("{}/{}/{}", nodes * gpus, nodes, 2 * cables + weights + 1);
  };
  // GPUs, NICs, uplinks; one leaf needs no core.
  CHECK(counts(4, 8, 1, 2, "rails") == expected(4, 8, 32 + 4 + 2, 0));
  CHECK(counts(2, 8, 1, 2, "rails") == expected(2, 8, 16 + 2, 0));
  CHECK(counts(1, 1, 1, 1, "rails") == expected(1, 1, 1 + 1, 0));
  CHECK(counts(4, 8, 8, 2, "rails") == expected(4, 8, 32 + 32 + 16, 32));
  CHECK(counts(4, 8, 8, 2, "nodes") == expected(4, 8, 32 + 32 + 2, 32));
  CHECK(counts(4, 8, 8, 4, "nodes") == expected(4, 8, 32 + 32, 32));
  // Shared NICs: PCIe links from the GPUs.
  CHECK(counts(3, 8, 2, 2, "rails") == expected(3, 8, 24 + 24 + 6 + 4, 24));
}

TEST_CASE("a star has a cable for each host") {
  CHECK(counts_of("star", {{"hosts", "1"}}) == "1/1/3");
  CHECK(counts_of("star", {{"hosts", "5"}}) == "5/5/11");
  CHECK(counts_of("star", {{"hosts", "5"}, {"flat", "1"}}) == "5/5/11");
  CHECK(
      counts_of("star", {{"hosts", "6"}, {"flat", "1"}, {"switches", "3"}, {"uplink", "1GBps"}}) ==
      fmt::format("6/6/{}", 2 * (6 + 2) + 1));
}

TEST_CASE("hosts asked for are the least size that holds them") {
  CHECK(counts_of("dragonfly", {{"hosts", "1"}}).starts_with("384/"));
  CHECK(counts_of("dragonfly", {{"hosts", "384"}}).starts_with("384/"));
  CHECK(counts_of("dragonfly", {{"hosts", "385"}}).starts_with("768/"));
  CHECK(counts_of("fat_tree", {{"hosts", "1024"}}).starts_with("1024/"));
  CHECK(counts_of("fat_tree", {{"hosts", "1025"}}).starts_with("1280/"));
  CHECK(counts_of("nvlink_ib", {{"hosts", "17"}}).starts_with("24/3/"));
  CHECK(counts_of("star", {{"hosts", "17"}}).starts_with("17/"));
  CHECK(counts_of("dragonfly_plus", {{"hosts", "181"}}).starts_with("360/"));
  CHECK(counts_of("rails", {{"hosts", "641"}}).starts_with("1280/320/"));
  CHECK(counts_of("torus", {{"hosts", "65"}}).starts_with("128/"));
}

TEST_CASE("parameters that make no platform are refused with the reason") {
  CHECK(contains(refusal("dragonfly", {{"hosts", "7000"}, {"groups", "2"}}), "hosts sets groups"));
  CHECK(contains(refusal("dragonfly", {{"chassis", "0"}}), "chassis: '0' is not valid"));
  CHECK(contains(refusal("dragonfly", {{"chassis", "6.5"}}), "a whole number from 1"));
  CHECK(contains(refusal("dragonfly", {{"chassis", "99999"}, {"nodes", "99"}}), "more than the"));
  CHECK(contains(refusal("dragonfly", {{"blue-latency", "5"}}),
                 "dragonfly: blue-latency: '5' is not valid"));
  CHECK(contains(refusal("dragonfly", {{"group", "3"}}), "did you mean 'groups'?"));
  CHECK(contains(refusal("dragonfly", {{"groups", "1"}, {"blue-bandwidth", "1GBps"}}),
                 "dragonfly: blue-bandwidth: one group has no blue links; leave it out"));
  CHECK(contains(refusal("dragonfly", {{"hosts", "300"}, {"blue-latency", "1us"}}), "one group"));
  CHECK(contains(refusal("dragonfly", {{"chassis", "1"}, {"black-cables", "7"}}), "one chassis"));
  CHECK(contains(refusal("dragonfly", {{"routers", "1"}, {"green-latency", "1us"}}), "one router"));
  CHECK(contains(refusal("dragonfly_plus", {{"cells", "1"}, {"global-latency", "1us"}}),
                 "dragonfly_plus: global-latency: one cell has no links to others"));
  CHECK(contains(refusal("star", {{"bandwidth", "1e308GBps"}}), "expected a bandwidth"));
  CHECK(contains(refusal("fat_tree", {{"children", "16,16"}, {"oversubscription", "3"}}),
                 "5.33333 parents"));
  CHECK(contains(refusal("fat_tree", {{"children", "4,4"}, {"oversubscription", "8"}}),
                 "0.5 parents"));
  CHECK(contains(refusal("fat_tree", {{"children", "4,4"}, {"oversubscription", "0.5"}}),
                 "numbers from 1"));
  CHECK(contains(refusal("fat_tree", {{"children", "4,4"}, {"oversubscription", "1,1"}}),
                 "2 levels have 1 oversubscriptions"));
  CHECK(contains(refusal("fat_tree", {{"children", "4,,4"}}), "as in 16,16"));
  CHECK(contains(refusal("fat_tree", {{"children", "9999,9999"}}), "more hosts than"));
  CHECK(contains(refusal("fat_tree", {{"cables", "1,2"}}), "cables for 2"));
  CHECK(contains(refusal("star", {{"flat", "1"}, {"hosts", "1025"}}), "more than 1024"));
  CHECK(contains(refusal("star", {{"hosts", "4"}, {"switches", "2"}, {"uplink", "1GBps"}}),
                 "give flat=1"));
  CHECK(contains(refusal("star", {{"flat", "1"}, {"hosts", "4"}, {"switches", "2"}}),
                 "star: uplink: ''"));
  CHECK(contains(refusal("star", {{"uplink", "1GBps"}}), "one switch has no uplink"));
  CHECK(contains(
      refusal("star", {{"flat", "1"}, {"hosts", "5"}, {"switches", "2"}, {"uplink", "1GBps"}}),
      "2 switches cannot share 5 hosts evenly"));
  CHECK(contains(refusal("star", {{"hosts", "2147483647"}}), "from 1 to 1048576"));
  CHECK(contains(refusal("nvlink_ib", {{"leaf-nodes", "2147483647"}}), "from 1 to 1048576"));
  CHECK(contains(
      refusal("dragonfly", {{"chassis", "1000000"}, {"routers", "1000000"}, {"nodes", "1000000"}}),
      "more than the 1048576"));
  CHECK(contains(refusal("dragonfly_plus", {{"spines", "0"}}), "spines: '0' is not valid"));
  CHECK(contains(refusal("dragonfly_plus", {{"cells", "9999"}, {"nodes", "99"}}), "more than the"));
  CHECK(contains(refusal("dragonfly_plus", {{"hosts", "9"}, {"cells", "1"}}), "hosts sets cells"));
  CHECK(contains(refusal("rails", {{"oversubscription", "0"}}), "is not above 0"));
  CHECK(contains(refusal("torus", {{"dims", "2,2,2,2,2,2,2"}}), "at most 6 sizes"));
  CHECK(contains(refusal("torus", {{"dims", "4,4"}, {"cables", "1,2,1"}}), "cables for 3"));
  CHECK(contains(refusal("torus", {{"dims", "4096,4096"}}), "more hosts than the 1048576"));
  CHECK(contains(refusal("rails", {{"oversubscription", "1,1"}}), "one number above 0"));
  CHECK(contains(refusal("rails", {{"islands", "9999"}, {"nodes", "99"}}), "more than the"));
  CHECK(contains(refusal("star", {{"flat", "2"}}), "flat: '2' is not valid; expected 0 or 1"));
  CHECK(contains(refusal("nvlink_ib", {{"nics", "3"}}), "expected a divisor of 8"));
  CHECK(contains(refusal("nvlink_ib", {{"wiring", "star"}}), "expected rails or nodes"));
  CHECK(contains(refusal("nvlink_ib", {{"oversubscription", "0"}}), "is not above 0"));
  CHECK(contains(refusal("nvlink_ib", {{"nodes", "-1"}}), "a whole number from 1"));
  CHECK(contains(refusal("star", {{"hosts", ""}}), "star: hosts: ''"));
  CHECK(contains(refusal("star", {{"bandwidth", "0GBps"}}), "a bandwidth above 0"));
  CHECK(contains(error_of<InputError>([] { (void)family("dragonfli"); }),
                 "did you mean 'dragonfly'?"));
  CHECK(contains(
      error_of<InputError>([] { (void)make_platform(family("star"), {}, "./no-such-notes"); }),
      "./no-such-notes: cannot be read"));
}

TEST_CASE("the comment of a platform cannot break its XML") {
  const test::TemporaryFolder folder;
  const std::string notes = folder.write("notes", "a -- b --> c\n\n---");
  const std::string xml = make_platform(family("star"), {{"hosts", "2"}}, notes);
  CHECK(contains(xml, "a - - b - -> c"));
  CHECK(on_platform(folder.write("p.xml", xml), [](const Platform& platform) {
          return std::to_string(platform.hosts().size());
        }) == "2");
}

}  // namespace thinwire::topologies
