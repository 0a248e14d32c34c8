// Several processes for one point, or for several points: the rows are the same as from one process.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::run {

namespace {

/// All of a row but the time and memory that the simulation took.
Json without_costs(const results::Row& row) {
  Json json = to_json(row);
  for (const char* key : {"wall_s", "peak_rss_bytes"}) json.erase(key);
  return json;
}

/// The outcome of a point on so many processes.
Json outcome_on(int processes, const plan::Point& point) {
  const bool has_clock = point.network->has_clock;
  const auto run = [&] {
    return to_json(Simulation(point, {.processes = processes}).run(), has_clock).dump();
  };
  return Json::parse(in_child_process({.run = run}).text);
}

/// The outcome of a point on one process, or none if it is refused. Checks that more processes make
/// the same to the last digit, or refuse it for the same reason.
std::optional<results::Outcome> same_on_all(const Json& json,
                                            std::initializer_list<int> more = {2, 5}) {
  CAPTURE(json.dump());
  const plan::Point point = plan::point_from(json, "test");
  if (plan::restriction_of(point)) return std::nullopt;
  std::optional<results::Outcome> alone;
  const auto told = [&](int processes) {
    try {
      const Json outcome = outcome_on(processes, point);
      if (processes == 1) alone = results::outcome_from(JsonNode("one", outcome), point.machine);
      return outcome.dump();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  const std::string one = told(1);
  for (const int processes : more) CHECK(told(processes) == one);
  return alone;
}

}  // namespace

TEST_CASE("iterations in several processes give the row of one process, for every scheme") {
  int ran = 0;
  for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
    const auto check = [&](Json point) {
      point["scheme"] = info.name;
      ran += same_on_all(point, {2}) ? 1 : 0;
    };
    check({{"ranks", 12}, {"components", 4000}, {"density", 0.05}, {"iterations", 3}});
    check({{"ranks", 7},
           {"components", 4000},
           {"density", 0.05},
           {"iterations", 2},
           {"network", "links"},
           {"platform", "fat_tree"}});
    if (info.collective_kind != algorithms::Collective::allreduce) continue;
    check({{"ranks", 16},
           {"iterations", 2},
           {"components", 1'000'000},
           {"input", {{"profile", "vgg16"}, {"statistical", true}}}});
  }
  CHECK(ran > 120);
}

TEST_CASE("iterations depend on none before where schemes keep nothing") {
  const auto independent = [](const char* scheme) {
    return algorithms::find_scheme(scheme).independent_iterations;
  };
  for (const char* scheme : {"dense_ring", "nccl_tree", "topka", "dsar_split_allgather", "zen"}) {
    CAPTURE(scheme);
    CHECK(independent(scheme));
  }
  // They keep thresholds, regions or a factor.
  for (const char* scheme : {"oktopk", "topka+threshold_reuse", "exdyna", "sidco", "powersgd"}) {
    CAPTURE(scheme);
    CHECK_FALSE(independent(scheme));
  }
}

TEST_CASE("the row is the same as from one process whatever else a point asks for") {
  const Json exact{{"scheme", "oktopk"},       {"ranks", 12},     {"components", 4000},
                   {"density", 0.05},          {"iterations", 3}, {"network", "links"},
                   {"platform", "aries_daint"}};
  const auto with = [&](const char* changes) {
    Json point = exact;
    point.merge_patch(Json::parse(changes));
    return same_on_all(point).value();
  };
  CHECK(with(R"({"options":{"tau":2,"tau_prime":3}})").kinds.size() == 4);
  CHECK(with(R"({"error_feedback":true})").global_errors.size() == 3);
  CHECK(with(R"({"error_feedback":true,"scheme":"topka"})").global_errors.size() == 3);
  CHECK(with(R"({"record":{"links":true,"ranks":true}})").links.size() > 12);
  CHECK(with(R"({"links":{"routing":"ugal"}})").congestion_factor().has_value());
  CHECK(with(R"({"network":"smpi"})").congestion_factor().has_value());
  CHECK(with(R"({"stragglers":{"ranks":2,"factor":3},"machine":{"gamma_s_per_word":1e-9}})")
            .congestion_factor()
            .has_value());
  CHECK(with(R"({"network":"counting","platform":null})").steps > 0);
  CHECK(with(R"({"ranks":1})").iteration_times.size() == 3);
  CHECK(with(R"({"iterations":1})").iteration_times.size() == 1);
  const std::optional<results::Outcome> trained =
      same_on_all({{"scheme", "oktopk"},
                   {"ranks", 16},
                   {"network", "links"},
                   {"platform", "fat_tree"},
                   {"workload", {{"model", "vgg16"}, {"by_layer", true}}}});
  CHECK(trained.value().training->kinds.size() > 2);
  CHECK(same_on_all({{"scheme", "oktopk"},
                     {"ranks", 256},
                     {"approximate", 16},
                     {"input", {{"profile", "bert"}, {"statistical", true}}}})
            .value()
            .iteration_times.size() == 2);
  CHECK(same_on_all({{"scheme", "dense_auto_ovlp"},
                     {"ranks", 128},
                     {"network", "links"},
                     {"platform", "fat_tree"},
                     {"components", 30'000'000},
                     {"options", {{"node", 1}}},
                     {"approximate", 72}})
            .value()
            .extrapolated_chunks);
}

TEST_CASE("a run that fails in a process of its own fails as it does in one") {
  Json point{{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 4000}};
  point["machine"] = {{"alpha_s", 1e308}};
  CHECK_FALSE(same_on_all(point).has_value());
}

TEST_CASE("points that run at once come in their order") {
  std::vector<plan::Point> points;
  for (const int ranks : {64, 2, 3, 16, 1}) {
    points.push_back(plan::point_from(
        {{"scheme", "dense_rabenseifner"}, {"ranks", ranks}, {"components", 8}}, "test"));
  }
  std::vector<Json> one_by_one;
  std::vector<Json> at_once;
  simulate_points("test", points, {.at_once = 1},
                  [&](const results::Row& row) { one_by_one.push_back(without_costs(row)); });
  simulate_points("test", points, {.at_once = 3},
                  [&](const results::Row& row) { at_once.push_back(without_costs(row)); });
  REQUIRE(one_by_one.size() == points.size());
  CHECK(at_once == one_by_one);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(one_by_one[i].at("point").at("ranks") == points[i].ranks);
  }
}

}  // namespace thinwire::run
