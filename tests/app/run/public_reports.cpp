// What users of other tools have reported in public, simulated anew.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/run/simulate.hpp"
#include "sim/core/base/files.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topologies/generators/family.hpp"

namespace thinwire::run {

namespace {

using test::approx;

double seconds_of(const Json& point) {
  const results::Row row = simulate_point("test", plan::point_from(point, "test"));
  CAPTURE(row.reason);
  REQUIRE(row.outcome);
  return row.outcome->time().value();
}

std::string nodes_xml(const std::map<std::string, std::string>& parameters) {
  return make_platform(topologies::family("nvlink_ib"), parameters);
}

}  // namespace

TEST_CASE("A ring over two sites pays their latency in each step: nccl-tests, issue 241") {
  const test::TemporaryFolder folder;
  const std::string near = nodes_xml({{"nodes", "4"}, {"gpus", "8"}, {"nics", "8"}});
  std::string far = near;
  // The NICs of two nodes have 300 µs more.
  for (int nic = 16; nic < 32; ++nic) {
    const std::string name = "\"nic" + std::to_string(nic) + "\"";
    const std::size_t at = far.find("1.085us", far.find("<link id=" + name));
    REQUIRE(at != std::string::npos);
    far.replace(at, 7, "301.085us");
  }
  Json point = {{"scheme", "dense_ring"}, {"components", 3'200'000}, {"network", "links"}};
  const auto added = [&](int ranks) {
    point["ranks"] = ranks;
    point["platform"] = folder.write("far.xml", far);
    const double there = seconds_of(point);
    point["platform"] = folder.write("near.xml", near);
    return there - seconds_of(point);
  };
  // From the last rank to the first a message passes one far NIC, between the far nodes two.
  CHECK(added(32) == approx(2 * 31 * 600e-6).epsilon(1e-3));
  std::string two;
  for (const int first : {0, 16}) {
    for (int i = 0; i < 8; ++i) two += "gpu-" + std::to_string(first + i) + "\n";
  }
  point["placement"] = folder.write("two.txt", two);
  CHECK(added(16) == approx(2 * 15 * 300e-6).epsilon(1e-3));
}

TEST_CASE("What fp16 compression brings to ResNet-50 on 32 GPUs: horovod, issue 578") {
  const test::TemporaryFolder folder;
  const std::string nodes = folder.write(
      "nodes.xml",
      nodes_xml({{"nodes", "4"}, {"gpus", "8"}, {"nics", "1"}, {"nic-bandwidth", "3.125GBps"}}));
  const auto seconds = [&](int value_bits, const Json& options, const char* scheme = "dense_ovlp") {
    return seconds_of({{"scheme", scheme},
                       {"ranks", 32},
                       {"network", "links"},
                       {"platform", nodes},
                       {"gradient", {{"value_bits", value_bits}}},
                       {"options", options},
                       {"workload", {{"model", "resnet50"}, {"device", "v100"}}}});
  };
  const double plain = seconds(32, Json::object());
  // A model in half precision has half as many buckets, so the last one begins earlier than it ends.
  CHECK(seconds(16, Json::object()) == approx(1.0034 * plain).epsilon(1e-3));
  // A hook compresses the same buckets on the wire.
  const double compressed = seconds(16, {{"bucket_bits", 32}});
  CHECK(compressed == approx(0.9693 * plain).epsilon(1e-3));
  CHECK(compressed == seconds(16, {{"bucket_words", 3'276'800}}));
  // On NCCL, whose launches take less than 0.1% of an iteration.
  const char* const nccl = "dense_auto_ovlp";
  CHECK(seconds(32, Json::object(), nccl) == approx(0.1921).epsilon(1e-3));
  CHECK(seconds(16, Json::object(), nccl) == approx(0.1929).epsilon(1e-3));
  CHECK(seconds(16, {{"bucket_bits", 32}}, nccl) == approx(0.1843).epsilon(1e-3));
}

TEST_CASE("PowerSGD scales to 4 and 6 GPUs as measured, and further to 8: pytorch, issue 74148") {
  const test::TemporaryFolder folder;
  Json point = {{"scheme", "powersgd"},
                {"options", {{"rank", 8}}},
                {"workload", {{"model", "resnet50"}, {"device", "v100"}}}};
  point["ranks"] = 1;
  const double alone = seconds_of(point);
  const auto speed_up = [&](int nodes) {
    point["ranks"] = 2 * nodes;
    point["network"] = "links";
    point["platform"] = folder.write("nodes.xml", nodes_xml({{"nodes", std::to_string(nodes)},
                                                             {"gpus", "2"},
                                                             {"nics", "1"},
                                                             {"nic-bandwidth", "375MBps"}}));
    return 2 * nodes * alone / seconds_of(point);
  };
  CHECK(speed_up(2) == approx(3.5).epsilon(0.03));
  CHECK(speed_up(3) == approx(5.23).epsilon(0.03));
  // Measured are 5.46, and 6.29 without the allreduces of PowerSGD, as if the ranks of the fourth
  // node were 1.16 times as slow. With those the speed-up is 5.98: not all of it is explained.
  CHECK(speed_up(4) == approx(6.91).epsilon(0.01));
  point["stragglers"] = {{"ranks", 2}, {"factor", 1.164}};
  CHECK(speed_up(4) == approx(5.98).epsilon(0.01));
}

}  // namespace thinwire::run
