#include "sim/app/report/tables/training_curves.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "sim/app/report/charts/figure_svg.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"

namespace thinwire::report {

namespace {

Json head_of(const std::string& key, const std::string& scheme, const Json& options) {
  const Json point{{"scheme", scheme},   {"options", options},    {"network", "links"},
                   {"ranks", 4},         {"platform", "here"},    {"k", 10},
                   {"components", 1000}, {"error_feedback", true}};
  return {{"kind", "training"},
          {"training", key},
          {"model", "cnn"},
          {"iterations", 20},
          {"points", Json::array({point})}};
}

Json step_of(const std::string& key, int iteration, double time_s, const Json& accuracy) {
  return {{"kind", "iteration"},
          {"training", key},
          {"iteration", iteration},
          {"accuracy", accuracy},
          {"places", Json::array({{{"time_s", time_s}}})}};
}

}  // namespace

TEST_CASE("Curves of trainings are means over those that differ in nothing but the seed") {
  TrainingLines lines;
  for (const char* key : {"first", "second"}) {
    const double more = key == std::string("second") ? 1 : 0;
    lines.add(head_of(key, "oktopk", {{"tau", 64}}), "test");
    lines.add(step_of(key, 10, 1 + more, 0.2 + 0.2 * more), "test");
    lines.add(step_of(key, 15, 1.5, nullptr), "test");
    lines.add(step_of(key, 20, 2 + 3 * more, 0.5), "test");
    lines.add({{"kind", "end"}, {"training", key}}, "test");
  }
  lines.add(head_of("third", "oktopk", {{"tau", 32}}), "test");
  lines.add(step_of("third", 20, 7, 0.9), "test");
  const std::vector<Json> curves = lines.curves();
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].at("label") == "oktopk");
  CHECK(curves[0].at("seeds") == 2);
  CHECK(curves[0].at("place") == "links here");
  CHECK(curves[0].at("setting") == "cnn, P = 4, density 1%, 20 iterations");
  REQUIRE(curves[0].at("points").size() == 2);
  CHECK(curves[0].at("points").at(0).at("time_s") == 1.5);
  CHECK(curves[0].at("points").at(0).at("accuracy").get<double>() == test::approx(0.3));
  CHECK(curves[0].at("points").at(1).at("time_s") == 3.5);
  CHECK(curves[1].at("label") == "oktopk tau=32");
  CHECK(curves[1].at("seeds") == 1);

  // A panel over time, and one over iterations.
  const std::string svg = figure_svg("accuracy", {}, {}, {}, curves);
  CHECK(svg.find("20 iterations: links here") != std::string::npos);
  CHECK(svg.find("oktopk tau=32") != std::string::npos);
  CHECK(svg.find("simulated time") != std::string::npos);
}

TEST_CASE("A row of the study is a whole training, and one that failed is none") {
  Json row{
      {"variant", "dgc"},      {"status", "ok"},        {"ranks", 8}, {"k", 1}, {"components", 100},
      {"iteration", {20, 40}}, {"accuracy", {0.1, 0.8}}};
  row["places"]["fast"] = {{"time_s", {3, 6}}};
  row["places"]["slow"] = {{"time_s", {30, 60}}};
  TrainingLines lines;
  lines.add(row, "test");
  row["status"] = "failed";
  lines.add(row, "test");
  const std::vector<Json> curves = lines.curves();
  REQUIRE(curves.size() == 2);
  CHECK(curves[1].at("place") == "slow");
  CHECK(curves[1].at("seeds") == 1);
  CHECK(curves[1].at("points").at(1).at("time_s") == 60);
  CHECK(curves[1].at("setting") == "P = 8, density 1%, 40 iterations");
}

TEST_CASE("Lines that are no trainings are refused, with their place") {
  CHECK(is_of_training({{"kind", "end"}, {"training", "a"}}));
  CHECK_FALSE(is_of_training({{"claim", "a"}}));
  CHECK_FALSE(is_of_training(Json::array()));
  TrainingLines lines;
  CHECK_THROWS_WITH_AS(lines.add({{"kind", "training"}, {"training", "a"}}, "rows.jsonl:3"),
                       "rows.jsonl:3: not a line of 'thinwire-train -o'", InputError);
  CHECK(lines.curves().empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(figure_svg("accuracy", {}, {}, {}, {})),
                       doctest::Contains("no training is among the results"), InputError);
}

}  // namespace thinwire::report
