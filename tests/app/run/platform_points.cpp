// Points on a platform: their keys, and the rows that come of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::plan;
using namespace thinwire::results;
using namespace thinwire::run;
using test::contains;
using test::error_of;

Point point_of(const std::string& json) { return point_from(Json::parse(json), "test"); }

Json on(const std::string& platform) {
  return {{"scheme", "oktopk"}, {"network", "smpi"},  {"platform", platform},
          {"ranks", 4},         {"components", 2000}, {"density", 0.05}};
}

}  // namespace

TEST_CASE("a point on a platform comes back from its JSON") {
  const Point point = point_of(R"({"network":"smpi","platform":"fat_tree","placement":"random:4",
      "record":{"links":true,"ranks":true},"machine":{"gamma_s_per_word":1e-10}})");
  CHECK(point.platform == "fat_tree");
  CHECK(point.placement == "random:4");
  CHECK(point.record.links);
  CHECK(point.record.ranks);
  const Json json = to_json(point);
  CHECK(to_json(plan::point_from(json, "again")) == json);
  CHECK(json["machine"].size() == 1);  // the rest is the platform's
}

TEST_CASE("a point's key changes with every part of its platform") {
  const char* base = R"({"network":"smpi","platform":"fat_tree"})";
  const std::string key = plan::key_of(point_of(base));
  CHECK(plan::key_of(point_of(base)) == key);
  for (const char* change :
       {R"({"platform":"gige_star"})", R"({"placement":"round_robin"})", R"({"packets":true})",
        R"({"flows_per_port":1})", R"({"network":"alphabeta"})", R"({"record":{"links":true}})",
        R"({"time_resolution_s":1e-6})"}) {
    CAPTURE(std::string(change));
    Json other = Json::parse(base);
    other.merge_patch(Json::parse(change));
    CHECK(key_of(plan::point_from(other, "test")) != key);
  }
}

TEST_CASE("smpi runs on the paper's machine where no platform is named, and alphabeta on none") {
  CHECK(point_of(R"({"network":"smpi"})").platform == "aries_daint");
  CHECK(point_of(R"({"network":"alphabeta"})").platform.empty());
  CHECK(point_of("{}").placement == "block");
}

TEST_CASE("the row of a run on a platform comes back from its JSON with all that was recorded") {
  const test::TemporaryFolder folder;
  Json json = on(folder.write("p.xml", test::star_xml(4)));
  json["record"] = {{"links", true}, {"ranks", true}};
  const Row row = simulate_point("test", point_from(json, "test"));
  REQUIRE(row.status == Status::ok);
  REQUIRE(row.outcome->links.size() == 8);
  REQUIRE(row.outcome->by_rank.size() >= 12);
  CHECK(row.outcome->congestion_factor());
  CHECK(row.peak_rss_bytes > 0);
  CHECK(to_json(results::row_from(to_json(row), "again")) == to_json(row));
}

TEST_CASE("links come hottest first, and ranks in their order") {
  const test::TemporaryFolder folder;
  Json json = on(folder.write("p.xml", test::dumbbell_xml({"10GBps", "1us"}, {"1GBps", "1us"})));
  json["record"] = {{"links", true}, {"ranks", true}};
  const Row row = simulate_point("test", point_from(json, "test"));
  REQUIRE(row.status == Status::ok);
  CHECK(row.outcome->links.front().name == "middle");
  CHECK(std::ranges::is_sorted(row.outcome->links, std::greater{}, &LinkReport::mean_utilisation));
  CHECK(std::ranges::is_sorted(row.outcome->by_rank, {}, &RankPhase::rank));
}

TEST_CASE("a link that all share congests what an even machine does not") {
  const test::TemporaryFolder folder;
  Json json = on(folder.write("p.xml", test::dumbbell_xml({"1GBps", "0"}, {"1GBps", "0"})));
  json["scheme"] = "dense_ring";
  json["components"] = 100'000;
  // 4 ranks around a ring: two of the four messages of a step cross the middle, and all four share
  // their ports, which are half duplex.
  const Row shared = simulate_point("test", point_from(json, "test"));
  REQUIRE(shared.status == Status::ok);
  CHECK(*shared.outcome->congestion_factor() == test::approx(2).epsilon(1e-6));
  json["platform"] = folder.write("star.xml", test::star_xml(4, {"1GBps", "0"}));
  const Row star = simulate_point("test", point_from(json, "test"));
  REQUIRE(star.status == Status::ok);
  CHECK(*star.outcome->congestion_factor() == test::approx(1).epsilon(1e-9));
}

TEST_CASE("where no link but ports is shared, nothing is congested, whatever latencies overlap") {
  const test::TemporaryFolder folder;
  const std::string gap = test::property("thinwire.message_gap", "1us");
  const std::string star = folder.write("star.xml", test::star_xml(16, {"1GBps", "10us"}, gap));
  const std::string tree =
      folder.write("tree.xml", test::full_bisection_xml({"1GBps", "10us"}, gap));
  std::vector<Point> points;
  for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
    for (const std::string& platform : {star, tree}) {
      if (info.in_switches) continue;
      // What is no power of two folds in, against the order of the cables.
      std::vector<int> ranks{8, 16};
      if (platform == star) ranks = {3, 7, 16};
      if (test::kSanitized) ranks = {8};
      for (const int count : ranks) {
        points.push_back(point_from({{"scheme", info.name},
                                     {"network", "links"},
                                     {"platform", platform},
                                     {"ranks", count},
                                     {"components", 21'504},
                                     {"k", 210}},
                                    "test"));
      }
    }
  }
  simulate_points("test", points, {.at_once = 2}, [](const Row& row) {
    const std::string& scheme = row.point.scheme->name;
    CAPTURE(scheme);
    CAPTURE(row.point.platform);
    CAPTURE(row.point.ranks);
    REQUIRE(row.status == Status::ok);
    // NCCL's channels may meet in another order where times are rounded: seen 1.5e-7, others 1e-12.
    const bool nccl = scheme.ends_with("nccl_ring") || scheme.starts_with("dense_auto");
    CHECK(std::abs(*row.outcome->congestion_factor() - 1) < (nccl ? 1e-5 : 1e-9));
    CHECK(row.outcome->machine.route_latency.value() == test::approx(20e-6));
    CHECK(row.outcome->machine.alpha.value() == test::approx(21e-6));
  });
}

TEST_CASE("a shared link slows an all-to-all down as counted by hand") {
  const test::TemporaryFolder folder;
  // All messages of 40 kB are under way at once. Of each rank's three, two cross the middle: it
  // serves eight, and a port of the even machine three a direction. Their latency is paid once.
  const Row row = simulate_point(
      "test", point_from({{"scheme", "alltoall_linear"},
                          {"network", "links"},
                          {"platform", folder.write("p.xml", test::dumbbell_xml({"1GBps", "5us"},
                                                                                {"1GBps", "0"}))},
                          {"ranks", 4},
                          {"components", 40'000}},
                         "test"));
  REQUIRE(row.status == Status::ok);
  CHECK(row.outcome->alphabeta_time->value() == test::approx(10e-6 + 3 * 40e-6).epsilon(1e-9));
  CHECK(row.outcome->time().value() == test::approx(10e-6 + 8 * 40e-6).epsilon(1e-9));
}

TEST_CASE("placement decides which ranks share a node") {
  // A ring on two nodes: by block two of its hops leave a node, in turns all of them do.
  const auto time = [](const char* placement) {
    Json json = on("dragonn_v100");
    json["scheme"] = "dense_ring";
    json["ranks"] = 16;
    json["components"] = 100'000;
    json["placement"] = placement;
    const Row row = simulate_point("test", point_from(json, "test"));
    REQUIRE(row.status == Status::ok);
    return row.outcome->time().value();
  };
  CHECK(time("round_robin") > 3 * time("block"));
}

TEST_CASE(
    "A ring over the NIC that a node's ranks share crosses it once a step, on both networks") {
  // 16 ranks on 2 nodes: of a step's 16 messages one leaves each node, and it is the slowest.
  const double alpha = 0.5e-6 + 20.5e-6;
  const double byte = 1 / 1.7e9;
  for (const char* network : {"links", "smpi"}) {
    for (const char* scheme : {"topk_exact", "dense_ring"}) {
      CAPTURE(network);
      CAPTURE(scheme);
      Json json = on("dragonn_v100");
      json["network"] = network;
      json["scheme"] = scheme;
      json["ranks"] = 16;
      json["components"] = 1'600'000;
      json["density"] = 0.01;
      const Row row = simulate_point("test", point_from(json, "test"));
      REQUIRE(row.status == Status::ok);
      const bool sparse = std::string(scheme) == "topk_exact";
      const double steps = sparse ? 15 : 30;
      const double bytes = sparse ? 4 * 2 * 16'000 : 4 * 100'000;
      CHECK(row.outcome->time().value() ==
            test::approx(steps * (alpha + bytes * byte)).epsilon(1e-3));
    }
  }
}

TEST_CASE("a platform that cannot be used is the input's fault, not a failed row") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("p.xml", "<platform>");
  CHECK(contains(error_of<InputError>([&] {
                   (void)run::simulate_point("test", plan::point_from(on(path), "test"));
                 }),
                 path + ":1"));
}
