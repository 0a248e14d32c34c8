// Network links as a user runs it.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "sim/app/results/row.hpp"
#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"

using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;

TEST_CASE("settings that network links cannot take are refused in one line") {
  const std::array<std::pair<const char*, const char*>, 14> cases{{
      {"--set links.routing=shortest", "/links/routing: \"shortest\" is not valid"},
      {"--set links.routing=3", "/links/routing: 3 is not valid"},
      {"--set links.background_share=1", "/links/background_share: 1 is not valid"},
      {"--set links.background_share=-0.1", "/links/background_share"},
      {"--set links.background_share=nan", "/links/background_share"},
      {"--set links.background_flows=1.5", "/links/background_flows: 1.5 is not valid"},
      {"--set links.background_flows=-1", "/links/background_flows"},
      {"--set machine.eager_bytes=-1", "/machine/eager_bytes: -1 is not valid"},
      {"--set machine.eager_bytes=0.5", "/machine/eager_bytes"},
      {"--set machine.eager=1",
       "/machine/eager: unknown key 'eager'; did you mean one of eager_bytes"},
      {"--set packets=true", "/packets: the network links does not use this setting; smpi does"},
      {"--set flows_per_port=1",
       "/flows_per_port: the network links does not use this setting; smpi does"},
      {"--set time_resolution_s=1e-6", "the network links does not use this setting; smpi does"},
      {"--platform no_such", "no_such"},
  }};
  for (const auto& [arguments, what] : cases) {
    CAPTURE(std::string(arguments));
    check_refused(
        run_program(std::string("run --strict -n 1000 -P 4 --network links ") + arguments), what);
  }
}

namespace {

/// The times of points on nodes of GPUs with a NIC each, by scheme and components.
std::map<std::pair<std::string, std::int64_t>, double> times_on_nodes(const std::string& platform,
                                                                      const std::string& point) {
  const Ended ended = run_program("run --network links --platform " + platform +
                                  " --set granule=1024 --format jsonl --scheme " + point);
  CHECK(ended.exit_code == 0);
  std::map<std::pair<std::string, std::int64_t>, double> times;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    CHECK(row.at("result").at("ranks_agree") == true);
    times[{row.at("point").at("scheme"), row.at("point").at("components")}] =
        row.at("result").at("time_s");
  }
  return times;
}

}  // namespace

TEST_CASE("Dense schemes that know the nodes are faster than a flat ring from a megabyte on") {
  for (const char* platform : {"nvlink_ib", "dgx_h100", "mare_nostrum5"}) {
    CAPTURE(platform);
    const auto times = times_on_nodes(
        platform,
        "dense_ring,nccl_ring,nccl_tree,hierarchical_ring,hierarchical_rabenseifner -P 64 "
        "--sizes 1M,8M,64M");
    for (const std::int64_t n : {1 << 18, 1 << 21, 1 << 24}) {
      CAPTURE(n);
      for (const char* scheme : {"hierarchical_ring", "hierarchical_rabenseifner"}) {
        CAPTURE(scheme);
        CHECK(times.at({scheme, n}) <= times.at({"dense_ring", n}));
      }
    }
    // All NICs of a node instead of one.
    for (const char* scheme : {"nccl_ring", "nccl_tree"}) {
      CAPTURE(scheme);
      CHECK(2 * times.at({scheme, 1 << 24}) < times.at({"dense_ring", 1 << 24}));
    }
  }
}

TEST_CASE("Sums in NVSwitches take what NCCL's NVLS is measured to take, on 4 to 8 H100") {
  // busbw in GB/s by GPUs, for 2 to 4 GB: github.com/NVIDIA/nccl, issue 1455;
  // results/links/NOTES.md.
  constexpr double kBytes = 2147483648.0;
  for (const auto& [gpus, measured] :
       {std::pair{4, 370.0}, {5, 420.0}, {6, 440.0}, {7, 460.0}, {8, 480.0}}) {
    CAPTURE(gpus);
    const auto times = times_on_nodes(
        "dgx_h100_nvls", "dense_in_network,nccl_ring --sizes 2G -P " + std::to_string(gpus));
    const auto busbw = [&](const char* scheme) {
      return kBytes / times.at({scheme, 1 << 29}) * 2 * (gpus - 1) / gpus / 1e9;
    };
    CHECK(busbw("dense_in_network") == thinwire::test::approx(measured).epsilon(0.05));
    CHECK(busbw("nccl_ring") == thinwire::test::approx(367.5).epsilon(0.15));
  }
}

TEST_CASE("NCCL's rings between nodes take what they are measured to take") {
  // busbw in GB/s: github.com/NVIDIA/nccl, issue 812, eight NICs of 25 GB/s; NVIDIA/nccl-tests,
  // issue 290, 46 to 48 GB/s of each of eight NICs of 50 GB/s; results/links/NOTES.md.
  struct Measured {
    const char* platform;
    int gpus;
    double busbw;
  };
  for (const auto& [platform, gpus, measured] :
       {Measured{"nvlink_ib", 32, 192}, {"dgx_h100", 16, 376}}) {
    CAPTURE(platform);
    const auto times = times_on_nodes(platform, "nccl_ring --sizes 1G -P " + std::to_string(gpus));
    const double bytes = 1 << 30;
    const double busbw = bytes / times.at({"nccl_ring", 1 << 28}) * 2 * (gpus - 1) / gpus / 1e9;
    CHECK(busbw == thinwire::test::approx(measured).epsilon(0.15));
  }
}

TEST_CASE("NCCL's rings and trees on GPUs that share NICs take what they are measured to take") {
  // github.com/NVIDIA/nccl, issue 1368: five nodes of 8 H100 and 4 NICs of 50 GB/s, busbw in GB/s
  // at most, up to 1 GiB. The channels have the bandwidth of NCCL's tuner for more than two nodes.
  const TemporaryFolder folder;
  const std::string platform = folder.path("shared_nics.xml");
  REQUIRE(run_program("topo make nvlink_ib --nodes 5 --nics 4 --gpu-bandwidth 450GBps "
                      "--nic-bandwidth 50GBps -o " +
                      platform)
              .exit_code == 0);
  const auto busbw = [&](const std::string& scheme) {
    const auto times =
        times_on_nodes(platform, scheme + " --sizes 1G -P 40 --set options.channels=4");
    return 1073741824.0 / times.begin()->second * 2 * 39 / 40 / 1e9;
  };
  CHECK(busbw("nccl_ring") == thinwire::test::approx(190).epsilon(0.15));
  CHECK(busbw("nccl_tree --set options.channel_bandwidth=36") ==
        thinwire::test::approx(150).epsilon(0.15));
}

TEST_CASE("Sums in switches are refused in one line where no switch sums") {
  for (const char* place :
       {"links --platform dgx_h100", "smpi --platform dgx_h100_nvls", "alphabeta", "counting"}) {
    CAPTURE(std::string(place));
    check_refused(
        run_program("run --scheme dense_in_network -n 1000 -P 4 --network " + std::string(place)),
        "needs switches that sum");
  }
}

TEST_CASE("dense_auto takes the switches of a node for long gradients, as NCCL's tuner") {
  const auto phase = [](const std::string& platform, const std::string& size) {
    const Ended ended = run_program(
        "run --scheme dense_auto -P 8 --network links --format jsonl --set granule=64 --platform " +
        platform + " --sizes " + size);
    return std::string(nlohmann::json::parse(ended.out)["result"]["phases"][0]["name"]);
  };
  CHECK(phase("dgx_h100_nvls", "64K") == "ring_ll");
  CHECK(phase("dgx_h100_nvls", "64M") == "in_switches");
  CHECK(phase("dgx_h100", "64M") == "ring_simple");
}

TEST_CASE("Hierarchical schemes take the ranks of a node from the platform") {
  const auto json = [](const std::string& more) {
    const Ended ended = run_program(
        "run --scheme hierarchical_ring -n 48000 --network links --format jsonl " + more);
    return nlohmann::json::parse(ended.out).at("result");
  };
  const auto nodes = json("--platform exdyna_v100 -P 12");
  CHECK(nodes.at("node") == 8);
  CHECK(json("--platform exdyna_v100 -P 12 --set options.node=4").at("time_s") !=
        nodes.at("time_s"));
  CHECK(json("--platform exdyna_v100 -P 12 --set options.node=8").at("time_s") ==
        nodes.at("time_s"));
  // Ranks that do not follow one another on a node, and hosts that are nodes of their own.
  CHECK_FALSE(json("--platform exdyna_v100 -P 12 --placement round_robin").contains("node"));
  CHECK_FALSE(json("--platform gige_star -P 4").contains("node"));
}

TEST_CASE("settings of network links are not read on any other network") {
  for (const std::string network : {"alphabeta", "smpi", "counting"}) {
    CAPTURE(network);
    check_refused(
        run_program("run --strict -n 1000 -P 4 --network " + network + " --set links.routing=ugal"),
        "/links/routing: the network " + network + " does not use this setting; links does");
  }
}

TEST_CASE("background flows without two free hosts are refused in one line") {
  const TemporaryFolder folder;
  const std::string platform = folder.path("star.xml");
  REQUIRE(run_program("topo make star --hosts 5 -o " + platform).exit_code == 0);
  const std::string run = "run -n 1000 --network links --platform " + platform +
                          " --set links.background_flows=0.5 --format jsonl -P ";
  CHECK(run_program(run + "3").exit_code == 0);
  check_refused(run_program(run + "4"), "background_flows: 1 of 5 hosts have no rank");
}

TEST_CASE("a point on network links gives the same row twice, with what it was told") {
  const TemporaryFolder folder;
  const std::string platform = folder.path("tree.xml");
  REQUIRE(run_program("topo make fat_tree --children 4,4 -o " + platform).exit_code == 0);
  const std::string run = "run -n 20000 -P 12 --network links --links --format jsonl --platform " +
                          platform +
                          " --set links.routing=ecmp --set links.background_share=0.25 --seed 7";
  const auto row = [&](const Ended& ended) {
    return thinwire::Json::parse(ended.out).at("result");
  };
  const Ended first = run_program(run);
  REQUIRE(first.exit_code == 0);
  const thinwire::Json json = thinwire::Json::parse(first.out);
  CHECK(row(first) == row(run_program(run)));
  CHECK(json.at("point").at("links").at("routing") == "ecmp");
  CHECK(json.at("point").at("links").at("background_share") == 0.25);
  CHECK_FALSE(json.at("result").at("links").empty());
}

TEST_CASE("a point on network links without shared links has a congestion factor of one") {
  const Ended ended =
      run_program("run -n 20000 -P 12 --network links --platform alphabeta --format jsonl");
  REQUIRE(ended.exit_code == 0);
  const thinwire::Json json = thinwire::Json::parse(ended.out);
  CHECK(json.at("result").at("congestion_factor") == thinwire::test::approx(1).epsilon(1e-12));
}

TEST_CASE("switches that sum between nodes are in the rows of every scheme") {
  const TemporaryFolder folder;
  const std::string platform = folder.path("tree.xml");
  REQUIRE(run_program("topo make fat_tree --children 4,4 --reducing network -o " + platform)
              .exit_code == 0);
  for (const char* network : {"links", "alphabeta"}) {
    CAPTURE(network);
    const Ended ended =
        run_program("run --scheme dense_ring,dense_in_network -n 1000 -P 8 --platform " + platform +
                    " --format jsonl --network " + network);
    CAPTURE(ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(ended.out.find("\"status\":\"failed\"") == std::string::npos);
    CHECK(ended.out.find("dense_in_network") != std::string::npos);
  }
}
