// The shipped platforms: made by the command in their comment, and with the figures that a hand
// works out from the sources which the comment names.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/analysis/graph.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/loading/route_table.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::topologies {

namespace {

using test::host_of;
using test::on_platform;

/// The commands of tests may not depend on where they run.
class InSourceFolder {
 public:
  InSourceFolder() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(THINWIRE_SOURCE_DIR);
  }
  InSourceFolder(const InSourceFolder&) = delete;
  InSourceFolder& operator=(const InSourceFolder&) = delete;
  ~InSourceFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The platform that the command in a comment makes: "thinwire topo make FAMILY KEY=VALUE ...".
std::string made_again(const std::string& xml) {
  const std::string opening = "Made by: thinwire topo make ";
  const std::size_t begin = xml.find(opening) + opening.size();
  std::istringstream words(xml.substr(begin, xml.find("\n\n", begin) - begin));
  std::string name;
  words >> name;
  std::map<std::string, std::string> given;
  std::string notes;
  for (std::string word; words >> word;) {
    if (word == "\\") continue;
    const std::size_t equals = word.find('=');
    const std::string value = word.substr(equals + 1);
    if (word.starts_with("notes=")) {
      notes = value;
    } else {
      given[word.substr(0, equals)] = value;
    }
  }
  return make_platform(family(name), given, notes);
}

struct Expected {
  std::string from;
  std::string to;
  double latency_s;
  double bandwidth;   ///< the least on the route
  std::string kinds;  ///< of the links of the route, by the part of their names before a digit
};

std::string kind_of(const std::string& link) {
  const std::string kind =
      link.substr(0, std::min(link.find_first_of("0123456789"), link.find("_link_")));
  return kind.ends_with("-") && kind != "cable-" ? kind.substr(0, kind.size() - 1) : kind;
}

/// "latency bandwidth kinds" of a route.
void check_routes(const std::string& platform_name, const std::vector<Expected>& all) {
  CAPTURE(platform_name);
  const std::string found =
      on_platform(kPlatforms.file(platform_name), [&](const Platform& platform) {
        std::string text;
        for (const Expected& expected : all) {
          const auto route =
              routes_of(platform)
                  .route(host_of(platform, expected.from), host_of(platform, expected.to))
                  .value();
          double least = 1e300;
          std::string kinds;
          for (const LinkIndex link : route.links) {
            least = std::min(least, platform.links()[link].bandwidth);
            kinds += (kinds.empty() ? "" : "-") + kind_of(platform.links()[link].name);
          }
          text += fmt::format("{} {} {}\n", route.latency.value(), least, kinds);
        }
        return text;
      });
  std::istringstream lines(found);
  for (const Expected& expected : all) {
    CAPTURE(expected.from);
    CAPTURE(expected.to);
    double latency = 0;
    double bandwidth = 0;
    std::string kinds;
    lines >> latency >> bandwidth >> kinds;
    CHECK(latency == test::approx(expected.latency_s).epsilon(1e-12));
    CHECK(bandwidth == test::approx(expected.bandwidth).epsilon(1e-12));
    CHECK(kinds == expected.kinds);
  }
}

std::string gap_and_hosts(const std::string& name) {
  return on_platform(kPlatforms.file(name), [](const Platform& platform) {
    return fmt::format("{:.12g} {}", platform.message_gap().value(), platform.hosts().size());
  });
}

}  // namespace

TEST_CASE("every shipped platform is made again, byte for byte, by the command in its comment") {
  const InSourceFolder folder;
  const std::vector<std::string> names = kPlatforms.names();
  CHECK(names.size() >= 10);
  for (const std::string& name : names) {
    CAPTURE(name);
    const std::string xml = text_of(kPlatforms.file(name));
    CHECK(xml.find("notes=platforms/notes/" + name + ".txt") != std::string::npos);
    CHECK((made_again(xml) == xml));
  }
}

TEST_CASE("the commands of the README make the shipped platforms, comments aside") {
  const InSourceFolder folder;
  const auto without_comment = [](const std::string& xml) { return xml.substr(xml.find("-->")); };
  const std::string readme = text_of("platforms/README.md");
  std::size_t made = 0;
  for (std::size_t at = readme.find("\nthinwire topo make "); at != std::string::npos;
       at = readme.find("\nthinwire topo make ", at + 1)) {
    // As a comment has it: up to the line that goes on nowhere.
    std::size_t end = readme.find('\n', at + 1);
    while (readme[end - 1] == '\\') end = readme.find('\n', end + 1);
    const std::string command = readme.substr(at + 1, end - at - 1);
    const std::string notes = command.substr(command.find("platforms/notes/") + 16);
    const std::string name = notes.substr(0, notes.find(".txt"));
    CAPTURE(name);
    CHECK((without_comment(made_again("Made by: " + command + "\n\n")) ==
           without_comment(text_of(kPlatforms.file(name)))));
    ++made;
  }
  CHECK(made == kPlatforms.names().size());
}

TEST_CASE("shipped platforms have the hosts and the message gaps that their notes say" *
          doctest::test_suite("large")) {
  CHECK(gap_and_hosts("alphabeta") == "2e-06 4096");
  CHECK(gap_and_hosts("aries_daint") == "3e-07 5376");
  CHECK(gap_and_hosts("aries_8192") == "3e-07 8192");
  CHECK(gap_and_hosts("fat_tree") == "3e-07 4096");
  CHECK(gap_and_hosts("fat_tree_4to1") == "3e-07 4096");
  CHECK(gap_and_hosts("fat_tree_8192") == "3e-07 8192");
  CHECK(gap_and_hosts("nvlink_ib") == "3e-07 512");
  CHECK(gap_and_hosts("dgx_h100") == "3e-07 1024");
  CHECK(gap_and_hosts("dgx_h100_nvls") == "3e-07 1024");
  CHECK(gap_and_hosts("gb200_nvl72") == "3e-07 576");
  CHECK(gap_and_hosts("leonardo") == "5e-09 3600");
  CHECK(gap_and_hosts("leonardo_two_ports") == "5e-09 3600");
  CHECK(gap_and_hosts("lumi") == "3e-07 3072");
  CHECK(gap_and_hosts("mare_nostrum5") == "3e-07 4480");
  CHECK(gap_and_hosts("mare_nostrum5_one_rail") == "5e-09 1120");
  CHECK(gap_and_hosts("abci_v") == "3e-07 128");
  CHECK(gap_and_hosts("abci_a") == "3e-07 256");
  CHECK(gap_and_hosts("alps_gh200") == "3e-07 10752");
  CHECK(gap_and_hosts("p4d") == "3e-07 128");
  CHECK(gap_and_hosts("gige_star") == "5e-06 64");
  CHECK(gap_and_hosts("exdyna_v100") == "3e-07 16");
  CHECK(gap_and_hosts("dragonn_v100") == "5e-07 16");
  CHECK(gap_and_hosts("testbed_one_switch") == "0 12");
  CHECK(gap_and_hosts("testbed_two_switches") == "0 12");
}

TEST_CASE("aries_daint: blade, chassis, group and machine") {
  // 4 nodes a router, 64 a chassis, 384 a group. 0.5 us to and from the router, 0.1 us a green or
  // black hop, 0.5 us a blue one.
  check_routes(
      "aries_daint",
      {{"nid-0", "nid-3", 1.0e-6, 10.2e9, "dragonfly-dragonfly"},
       {"nid-0", "nid-4", 1.1e-6, 5.25e9, "dragonfly-green-dragonfly"},
       {"nid-0", "nid-64", 1.1e-6, 10.2e9, "dragonfly-black-dragonfly"},
       {"nid-0", "nid-68", 1.2e-6, 5.25e9, "dragonfly-green-black-dragonfly"},
       {"nid-68", "nid-0", 1.2e-6, 5.25e9, "dragonfly-green-black-dragonfly"},
       {"nid-383", "nid-130", 1.2e-6, 5.25e9, "dragonfly-green-black-dragonfly"},
       // Cable c between groups 0 and 1 is on router c of both, as far as router 72.
       {"nid-4", "nid-388", 1.5e-6, 4.7e9, "dragonfly-blue-dragonfly"},
       {"nid-288", "nid-672", 1.5e-6, 4.7e9, "dragonfly-blue-dragonfly"},
       // Router 80 has none, and takes cable (80 - 73) x 73 / 23 = 22, over 6 in chassis 1.
       {"nid-320", "nid-472", 1.7e-6, 4.7e9, "dragonfly-green-black-blue-dragonfly"},
       {"nid-384", "nid-320", 1.6e-6, 4.7e9, "dragonfly-blue-black-dragonfly"}});
}

TEST_CASE("aries_daint: the cables of a bundle add up, those between groups are links each") {
  const std::string bandwidths =
      on_platform(kPlatforms.file("aries_daint"), [](const Platform& platform) {
        std::map<std::string, double> by_kind;
        for (const PlatformLink& link : platform.links())
          by_kind[kind_of(link.name)] = link.bandwidth;
        return fmt::format("{} {} {} {}", by_kind["dragonfly"], by_kind["green"], by_kind["black"],
                           by_kind["blue"]);
      });
  CHECK(bandwidths == fmt::format("{} {} {} {}", 10.2e9, 5.25e9, 15.75e9, 4.7e9));
}

TEST_CASE("fat_tree: under one leaf, in one pod, across") {
  check_routes("fat_tree",
               {{"host-0", "host-15", 0.6e-6, 25e9, "link_from_-link_from_"},
                {"host-0", "host-16", 1.2e-6, 25e9, "link_from_-link_from_-link_from_-link_from_"},
                {"host-0", "host-4095", 1.8e-6, 25e9,
                 "link_from_-link_from_-link_from_-link_from_-link_from_-link_from_"}});
}

TEST_CASE("aries_8192 and the other fat trees: the figures of their families, further out" *
          doctest::test_suite("large")) {
  check_routes("aries_8192",
               {{"nid-0", "nid-3", 1.0e-6, 10.2e9, "dragonfly-dragonfly"},
                {"nid-508", "nid-0", 1.2e-6, 5.25e9, "dragonfly-green-black-dragonfly"},
                {"nid-0", "nid-512", 1.5e-6, 4.7e9, "dragonfly-blue-dragonfly"}});
  const std::string up_and_down =
      "link_from_-link_from_-link_from_-link_from_-link_from_-link_from_";
  check_routes("fat_tree_8192", {{"host-0", "host-15", 0.6e-6, 25e9, "link_from_-link_from_"},
                                 {"host-0", "host-8191", 1.8e-6, 25e9, up_and_down}});
  check_routes("fat_tree_4to1", {{"host-0", "host-15", 0.6e-6, 25e9, "link_from_-link_from_"},
                                 {"host-0", "host-4095", 1.8e-6, 25e9, up_and_down}});
}

TEST_CASE("fat_tree_4to1 has four cables up for sixteen down") {
  const std::string ways =
      on_platform(kPlatforms.file("fat_tree_4to1"), [](const Platform& platform) {
        std::set<LinkIndex> up;
        for (HostIndex to = 16; to < 4096; ++to) up.insert(platform.route(0, to).links.at(1));
        return std::to_string(up.size());
      });
  CHECK(ways == "4");
}

TEST_CASE("nvlink_ib: in a node over NVLink, on a rail over one leaf, else over the core") {
  check_routes("nvlink_ib", {{"gpu-0", "gpu-7", 0.17e-6, 300e9, "nvlink-nvlink"},
                             {"gpu-0", "gpu-8", 2.17e-6, 25e9, "nic-nic"},
                             {"gpu-0", "gpu-9", 2.4e-6, 25e9, "nic-uplink-uplink-nic"},
                             {"gpu-3", "gpu-507", 2.4e-6, 25e9, "nic-uplink-uplink-nic"}});
}

TEST_CASE("leonardo: under one leaf, in one cell, across cells by the spine of the destination") {
  const std::string port = "dragonfly_plus";
  check_routes("leonardo",
               {{"nid-0", "nid-9", 0.6e-6, 50e9, port + "-" + port},
                {"nid-0", "nid-10", 0.9e-6, 25e9, port + "-uplink-uplink-" + port},
                {"nid-0", "nid-3599", 1.15e-6, 25e9, port + "-uplink-global-uplink-" + port}});
}

TEST_CASE("leonardo_two_ports: the ports of a node are as fast as each cable of a route") {
  const std::string port = "dragonfly_plus";
  check_routes("leonardo_two_ports",
               {{"nid-0", "nid-9", 0.6e-6, 25e9, port + "-" + port},
                {"nid-0", "nid-3599", 1.15e-6, 25e9, port + "-uplink-global-uplink-" + port}});
}

TEST_CASE("lumi: on one switch, in one group over one cable, between groups") {
  check_routes("lumi",
               {{"nid-0", "nid-7", 1e-6, 25e9, "dragonfly-dragonfly"},
                {"nid-0", "nid-127", 1.35e-6, 25e9, "dragonfly-green-dragonfly"},
                // 20 cables and 16 switches: each switch has one or two to each other group.
                {"nid-0", "nid-128", 1.45e-6, 25e9, "dragonfly-blue-dragonfly"}});
}

TEST_CASE("mare_nostrum5: in a node over NVLink, on a rail of an island, else over the core") {
  check_routes("mare_nostrum5", {{"gpu-0", "gpu-3", 0.17e-6, 450e9, "nvlink-nvlink"},
                                 {"gpu-0", "gpu-636", 2.17e-6, 25e9, "nic-nic"},
                                 {"gpu-0", "gpu-637", 2.4e-6, 25e9, "nic-uplink-uplink-nic"},
                                 {"gpu-0", "gpu-640", 2.4e-6, 25e9, "nic-uplink-uplink-nic"}});
}

TEST_CASE("dgx_h100 and gb200_nvl72: NVLink in a node, a rail for each of its GPUs") {
  check_routes("dgx_h100", {{"gpu-0", "gpu-7", 0.17e-6, 450e9, "nvlink-nvlink"},
                            {"gpu-0", "gpu-248", 2.17e-6, 50e9, "nic-nic"},
                            {"gpu-0", "gpu-256", 2.4e-6, 50e9, "nic-uplink-uplink-nic"}});
  check_routes("gb200_nvl72", {{"gpu-0", "gpu-71", 0.17e-6, 900e9, "nvlink-nvlink"},
                               {"gpu-0", "gpu-72", 2.17e-6, 50e9, "nic-nic"},
                               {"gpu-0", "gpu-73", 2.4e-6, 50e9, "nic-uplink-uplink-nic"}});
}

TEST_CASE("mare_nostrum5_one_rail: nodes under the switch of an island, else over the core") {
  check_routes("mare_nostrum5_one_rail",
               {{"gpu-0", "gpu-159", 0.6e-6, 25e9, "nic-nic"},
                {"gpu-0", "gpu-160", 0.9e-6, 25e9, "nic-uplink-uplink-nic"}});
}

TEST_CASE("gige_star and alphabeta: two cables") {
  check_routes("gige_star", {{"host-0", "host-63", 24.6e-6, 118.2e6, "cable--cable-"}});
  check_routes("alphabeta", {{"host-0", "host-4095", 0, 10e9, "star-star"}});
}

TEST_CASE("testbed_two_switches: six hosts on each switch, and a cable between them") {
  check_routes("testbed_two_switches", {{"host-0", "host-5", 0, 6.25e6, "cable--cable-"},
                                        {"host-5", "host-6", 0, 6.25e6, "cable--uplink-cable-"}});
}

TEST_CASE("exdyna_v100 and dragonn_v100: within a node, and over one NIC a node") {
  check_routes("exdyna_v100", {{"gpu-0", "gpu-7", 0.17e-6, 150e9, "node-node"},
                               {"gpu-0", "gpu-8", 2.4e-6, 12.5e9, "node-nic-nic-node"}});
  check_routes("dragonn_v100", {{"gpu-0", "gpu-7", 0.5e-6, 12e9, "node-node"},
                                {"gpu-0", "gpu-8", 20.5e-6, 1.7e9, "node-nic-nic-node"}});
}

}  // namespace thinwire::topologies
