#include "topologies/loading/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::topologies {

namespace {

using test::contains;
using test::error_of;

using Hosts = std::vector<HostIndex>;

/// `nodes` nodes of `gpus` hosts each: gpu-0, gpu-1 ... on node0, node1 ...
std::vector<PlatformHost> machine(int nodes, int gpus) {
  std::vector<PlatformHost> hosts;
  for (int i = 0; i < nodes * gpus; ++i) {
    hosts.push_back(
        {.name = "gpu-" + std::to_string(i), .node = "node" + std::to_string(i / gpus)});
  }
  return hosts;
}

/// Hosts n0, n1, ... of groups of switches of nodes of hosts.
std::vector<PlatformHost> grouped(int groups, int switches, int nodes, int hosts) {
  std::vector<PlatformHost> all;
  for (int i = 0; i < groups * switches * nodes * hosts; ++i) {
    const int at = i / hosts / nodes;
    all.push_back({.name = "h" + std::to_string(i),
                   .node = "node" + std::to_string(i / hosts),
                   .group = static_cast<std::uint32_t>(at / switches),
                   .access = static_cast<std::uint32_t>(at % switches)});
  }
  return all;
}

/// A file that is removed in the end.
class HostFile {
 public:
  explicit HostFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "thinwire-placement.txt").string()) {
    path_ += std::to_string(static_cast<long>(getpid()));
    std::ofstream(path_) << text;
  }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;
  ~HostFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("block puts rank r on host r") {
  CHECK(place(machine(2, 3), 4, "block") == Hosts{0, 1, 2, 3});
  CHECK(place(machine(2, 3), 0, "block").empty());
}

TEST_CASE("per node puts as many ranks on each node, on its hosts in turn") {
  CHECK(place(machine(3, 2), 6, "per_node:2") == Hosts{0, 1, 2, 3, 4, 5});
  CHECK(place(machine(3, 2), 3, "per_node:1") == Hosts{0, 2, 4});
  CHECK(place(machine(2, 2), 6, "per_node:3") == Hosts{0, 1, 0, 2, 3, 2});
  CHECK(place(machine(4, 1), 5, "per_node:4") == Hosts{0, 0, 0, 0, 1});
  CHECK(error_of<TooFewHostsError>([] {
          static_cast<void>(place(machine(2, 2), 5, "per_node:2"));
        }) == "the platform has 2 nodes, too few for 5 ranks with 2 on a node");
  for (const char* wrong : {"per_node:", "per_node:0", "per_node:-1", "per_node:two"}) {
    CHECK(contains(error_of<InputError>([&] { check_placement(wrong); }),
                   "expected per_node:RANKS with a whole number from 1"));
  }
}

TEST_CASE("round robin takes the first host of every node, then the second") {
  CHECK(place(machine(3, 2), 6, "round_robin") == Hosts{0, 2, 4, 1, 3, 5});
  CHECK(place(machine(3, 2), 4, "round_robin") == Hosts{0, 2, 4, 1});
}

TEST_CASE("round robin passes by nodes whose hosts are used up") {
  std::vector<PlatformHost> hosts = machine(2, 3);
  hosts.push_back({.name = "lone", .node = "node2"});
  CHECK(place(hosts, 7, "round_robin") == Hosts{0, 3, 6, 1, 4, 2, 5});
}

TEST_CASE("round robin over hosts that are nodes of their own is block") {
  CHECK(place(machine(5, 1), 5, "round_robin") == place(machine(5, 1), 5, "block"));
}

TEST_CASE("a random placement uses each host once, follows its seed, and moves every rank") {
  const auto hosts = machine(16, 4);
  const Hosts all = place(hosts, 64, "random:7");
  CHECK(std::set<HostIndex>(all.begin(), all.end()).size() == 64);
  CHECK(*std::ranges::max_element(all) == 63);
  CHECK(place(hosts, 64, "random:7") == all);
  CHECK(place(hosts, 64, "random:8") != all);
  // Ranks keep their hosts when there are fewer of them.
  const Hosts few = place(hosts, 10, "random:7");
  CHECK(std::equal(few.begin(), few.end(), all.begin()));
  // Over 300 seeds each host holds rank 0 about as often as any other.
  std::vector<int> times(8);
  for (int seed = 0; seed < 800; ++seed) {
    ++times[place(machine(8, 1), 1, "random:" + std::to_string(seed)).front()];
  }
  CHECK(*std::ranges::min_element(times) > 60);
  CHECK(*std::ranges::max_element(times) < 140);
}

TEST_CASE("a file names the hosts in the order of the ranks, and may repeat them") {
  const HostFile file("# two ranks share gpu-3\ngpu-3\n\n  gpu-3  # again\r\ngpu-0\ngpu-1");
  CHECK(place(machine(2, 2), 3, file.path()) == Hosts{3, 3, 0});
  CHECK(place(machine(2, 2), 4, file.path()) == Hosts{3, 3, 0, 1});
  CHECK(contains(error_of<InputError>([&] { (void)place(machine(2, 2), 5, file.path()); }),
                 "names 4 hosts, fewer than the 5 ranks"));
}

TEST_CASE("an unknown host is named with its file, its line and the nearest name") {
  const HostFile file("gpu-0\n# next\ngpu_1\n");
  const std::string error =
      error_of<InputError>([&] { (void)place(machine(1, 2), 2, file.path()); });
  CHECK(contains(error, file.path() + ":3: unknown host 'gpu_1'; did you mean 'gpu-1'?"));
  const HostFile far("elsewhere\n");
  CHECK(contains(error_of<InputError>([&] { (void)place(machine(2, 8), 2, far.path()); }),
                 "the 16 hosts run from 'gpu-0' to 'gpu-15'"));
}

TEST_CASE("a table maps ranks to hosts by name, in any order of lines and columns") {
  const HostFile file("node, extra,rank\r\n# a comment\ngpu-3,x,1\n\ngpu-1,y,0\ngpu-1,z,2\n");
  CHECK(place(machine(2, 2), 3, file.path()) == Hosts{1, 3, 1});
  CHECK(place(machine(2, 2), 1, file.path()) == Hosts{1});
}

TEST_CASE("a table that names nodes puts their ranks on their hosts, and begins again") {
  const HostFile file("rank,node\n0,node1\n1,node0\n2,node1\n3,node1\n4,gpu-0\n");
  CHECK(place(machine(2, 2), 5, file.path()) == Hosts{2, 0, 3, 2, 0});
}

TEST_CASE("a table of another machine's nodes is placed by group, switch and order") {
  const HostFile file(
      "rank,node,group,switch\n"
      "0,n7,west,s4\n"  // group 0, switch 0, node 0
      "1,n3,east,s1\n"  // group 1, switch 0, node 0
      "2,n8,west,s9\n"  // group 0, switch 1, node 0
      "3,n7,west,s4\n"  // again n7
      "4,n9,west,s4\n"  // group 0, switch 0, node 1
      "5,n1,east,s4\n"  // another switch of that name: group 1, switch 1
  );
  CHECK(place(grouped(2, 2, 2, 1), 6, file.path()) == Hosts{0, 4, 2, 0, 1, 6});
  // Two hosts a node: the second rank of n7 is on its second host.
  CHECK(place(grouped(2, 2, 2, 2), 6, file.path()) == Hosts{0, 8, 4, 1, 2, 12});
  // Where a group has one switch, the column switch says nothing.
  CHECK(place(grouped(2, 1, 4, 1), 6, file.path()) == Hosts{0, 4, 1, 0, 2, 5});
  const HostFile no_switch("rank,node,group\n0,a,g\n1,b,g\n2,c,g\n3,d,h\n4,a,g\n");
  CHECK(place(grouped(2, 2, 2, 1), 5, no_switch.path()) == Hosts{0, 1, 2, 4, 0});
  // Boards of a Cray EX: all boards 1 of a chassis are on one switch.
  const HostFile boards(
      "rank,node,group,switch\n0,a,g,c6s0b1\n1,b,g,c6s0b0\n2,c,g,c6s7b1\n3,d,g,c7s0b1x\n");
  CHECK(place(grouped(1, 3, 2, 1), 4, boards.path()) == Hosts{0, 2, 1, 4});
}

TEST_CASE("what a table has too many of is named with line and column") {
  const auto refusal = [](const std::string& rows) {
    const HostFile file("rank,node,group,switch\n" + rows);
    const std::string error = error_of<InputError>([&] {
      (void)place(grouped(2, 2, 2, 1), static_cast<int>(std::ranges::count(rows, '\n')),
                  file.path());
    });
    return error.starts_with(file.path()) ? error.substr(file.path().size()) : error;
  };
  CHECK(refusal("0,a,g,s\n1,b,h,s\n2,c,i,s\n") ==
        ":4:5: group 'i' is one too many: the platform has 2 groups");
  CHECK(refusal("0,a,g,s\n1,b,g,t\n2,c,g,u\n") ==
        ":4:7: switch 'u' is one too many in group 'g': a group of the platform has 2 switches");
  CHECK(refusal("0,a,g,s\n1,b,g,s\n2,c,g,s\n") ==
        ":4:3: node 'c' is one too many on switch 's' of group 'g': a switch of the platform has 2 "
        "nodes");
  CHECK(refusal("0,a,g,s\n1,a,h,s\n") == ":3:5: node 'a' is in group 'g' and in group 'h'");
}

TEST_CASE("a table that is not valid is refused with file, line and column") {
  const auto refusal = [](const std::string& text, int ranks) {
    const HostFile file(text);
    const std::string error =
        error_of<InputError>([&] { (void)place(machine(1, 2), ranks, file.path()); });
    return error.starts_with(file.path()) ? error.substr(file.path().size()) : error;
  };
  CHECK(contains(refusal("rank,host\n0,gpu-0\n", 1), ":1:1: there is no column 'node'"));
  CHECK(contains(refusal("a,node\n0,gpu-0\n", 1), ":1:1: there is no column 'rank'"));
  CHECK(contains(refusal("rank,node,node\n", 1), ":1:11: the column 'node' comes twice"));
  CHECK(contains(refusal("rank,node\n0,gpu-0\n1,gpu-1,x\n", 2), ":3:9: the line has 3 cells"));
  CHECK(contains(refusal("rank,node\n0\n", 1), ":2:2: the line has 1 cells"));
  CHECK(refusal("rank,node\n0,\n", 1) == ":2:3: the node is empty");
  CHECK(refusal("rank,node\n-1,gpu-0\n", 1) ==
        ":2:1: rank: '-1' is not valid; expected a whole number from 0 to 0");
  CHECK(refusal("rank,node\n0,gpu-0\n0,gpu-1\n", 2) == ":3:1: rank 0 is there twice");
  CHECK(refusal("rank,node\n0,gpu-0\n2,gpu-1\n", 2) ==
        ":3:1: rank: '2' is not valid; expected a whole number from 0 to 1");
  CHECK(refusal("rank,node\n0,gpu-0\n1,gpu_1\n", 2) ==
        ":3:3: unknown host 'gpu_1'; did you mean 'gpu-1'?");
  CHECK(refusal("rank,node\n0,gpu-0\n1,gpu-1\n", 3) ==
        ":3:1: places 2 ranks, fewer than the 3 of the run");
  CHECK(refusal("rank,node\n", 1) == ":1:1: places 0 ranks, fewer than the 1 of the run");
}

TEST_CASE("nodes that the platform has none of are its nodes in their order") {
  // A platform without groups says nothing about a machine's switches.
  for (const char* text : {"rank,node\n0,x7\n1,x7\n2,x3\n3,x3\n",
                           "rank,node,group,switch\n0,x7,1,2\n1,x7,1,2\n2,x3,1,1\n3,x3,1,1\n"}) {
    const HostFile file(text);
    const std::vector<HostIndex> expected{0, 1, 2, 3};
    CHECK(place(machine(2, 2), 4, file.path()) == expected);
    // The first rank of each node.
    const std::vector<HostIndex> thin{0, 2};
    CHECK(place(machine(2, 2), 2, "per_node:1@" + file.path()) == thin);
    CHECK_THROWS_AS((void)place(machine(1, 2), 4, file.path()), TooFewHostsError);
  }
}

TEST_CASE("what is no placement is refused with what would be right") {
  const auto refusal = [](const std::string& placement) {
    return error_of<InputError>([&] { (void)place(machine(1, 2), 2, placement); });
  };
  CHECK(refusal("roundrobin") == "unknown placement 'roundrobin'; did you mean 'round_robin'?");
  CHECK(contains(refusal("zigzag"), "known are block, round_robin, per_node:RANKS, random:SEED"));
  CHECK(contains(refusal("random:"), "as in random:1"));
  CHECK(contains(refusal("random:-1"), "as in random:1"));
  CHECK(contains(refusal("random:1x"), "as in random:1"));
  CHECK(contains(refusal("random"), "did you mean 'random:SEED'?"));
  CHECK(contains(refusal("./no-such-file"), "./no-such-file: cannot be read"));
  CHECK(contains(refusal(""), "unknown placement ''"));
}

TEST_CASE("too few hosts are named with both numbers") {
  for (const char* placement : {"block", "round_robin", "random:1"}) {
    CHECK(error_of<InputError>([&] { (void)place(machine(1, 2), 3, placement); }) ==
          "the platform has 2 hosts, fewer than the 3 ranks");
  }
}

}  // namespace thinwire::topologies
