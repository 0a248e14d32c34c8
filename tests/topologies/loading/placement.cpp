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
    hosts.push_back({"gpu-" + std::to_string(i), "node" + std::to_string(i / gpus)});
  }
  return hosts;
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
  HostFile(HostFile&&) = delete;
  HostFile& operator=(HostFile&&) = delete;
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

TEST_CASE("round robin takes the first host of every node, then the second") {
  CHECK(place(machine(3, 2), 6, "round_robin") == Hosts{0, 2, 4, 1, 3, 5});
  CHECK(place(machine(3, 2), 4, "round_robin") == Hosts{0, 2, 4, 1});
}

TEST_CASE("round robin passes by nodes whose hosts are used up") {
  std::vector<PlatformHost> hosts = machine(2, 3);
  hosts.push_back({"lone", "node2"});
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

TEST_CASE("what is no placement is refused with what would be right") {
  const auto refusal = [](const std::string& placement) {
    return error_of<InputError>([&] { (void)place(machine(1, 2), 2, placement); });
  };
  CHECK(refusal("roundrobin") == "unknown placement 'roundrobin'; did you mean 'round_robin'?");
  CHECK(contains(refusal("zigzag"), "known are block, round_robin, random:SEED"));
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
