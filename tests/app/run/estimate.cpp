// The estimate of how long a simulation takes.
#include "sim/app/run/estimate.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/memory.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::run {

TEST_CASE(
    "An estimate counts each iteration that a run simulates, also of kinds beyond those given") {
  const auto estimate = [](Json given) {
    given["components"] = 1'000'000;
    given["ranks"] = 64;
    return estimated_wall_s(plan::point_from(given, "test"));
  };
  const double begin = 0.25;  // of any point
  const Json oktopk = {{"scheme", "oktopk"}, {"iterations", 2}};
  Json alone = oktopk;  // with error feedback the given iterations run alone
  alone["error_feedback"] = true;
  CHECK(estimate(oktopk) - begin > 1.4 * (estimate(alone) - begin));
  Json one = alone;
  one["iterations"] = 1;
  CHECK(estimate(alone) - begin == test::approx(2 * (estimate(one) - begin)).epsilon(0.05));
  const Json training = {{"scheme", "oktopk"}, {"ranks", 64}, {"workload", {{"model", "vgg16"}}}};
  Json first = training;
  first["iterations"] = 1;
  const auto of_model = [](const Json& given) {
    return estimated_wall_s(plan::point_from(given, "test"));
  };
  CHECK(of_model(training) - begin > 2.5 * (of_model(first) - begin));
}

TEST_CASE("An estimate has one price for messages in rounds and another for events") {
  const auto estimate = [](const Json& changed) {
    Json given = {{"scheme", "dense_ring"}, {"ranks", 4096}, {"components", 1'000'000}};
    given.update(changed);
    return estimated_wall_s(plan::point_from(given, "test"));
  };
  CHECK(estimate(Json::object()) < 1);
  CHECK(estimate({{"ranks", 100'000}}) < 60);
  CHECK(estimate({{"machine", {{"noise_s", 1e-6}}}}) > 10);
  CHECK(estimate({{"scheme", "dense_ring_segmented"}}) < 1);
}

TEST_CASE("A simulation gives up on a time that it exceeds, and on no other") {
  for (const char* network : {"links", "alphabeta"}) {
    for (const char* scheme : {"dense_ovlp", "oktopk", "topkdsa", "gtopk", "dense_auto"}) {
      CAPTURE(network);
      CAPTURE(scheme);
      const plan::Point point = plan::point_from({{"scheme", scheme},
                                                  {"network", network},
                                                  {"platform", "nvlink_ib"},
                                                  {"ranks", 16},
                                                  {"workload", {{"model", "vgg16"}}}},
                                                 "test");
      const auto within = [&](double seconds) {
        return run_points(
                   "test", {point},
                   {.alphabeta = false, .give_up_after = [=](std::size_t) { return seconds; }})
            .front();
      };
      const EndedPoint whole = run_points("test", {point}, {.alphabeta = false}).front();
      REQUIRE(whole.row.outcome);
      const double time = whole.row.outcome->training->mean.total().value();
      for (const double share : {1.0, 1.001, 3.0}) {
        const EndedPoint same = within(share * time);
        CHECK(!same.too_slow);
        REQUIRE(same.row.outcome);
        CHECK(same.row.outcome->training->mean.total().value() == time);
      }
      // On a network whose ranks run ahead of its clock, the limit may be noticed too late.
      if (point.network == "links") CHECK(within(0.5 * time).too_slow);
    }
  }
}

TEST_CASE("Gradients that no memory holds are refused before they are made") {
  const auto bytes = [](const Json& given) {
    return least_memory(plan::point_from(given, "test"));
  };
  CHECK(bytes({{"scheme", "topka"},
               {"ranks", 4},
               {"input", {{"profile", "bert"}, {"statistical", true}}}}) == 0);
  CHECK(bytes({{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 1000}}) == 0);
  CHECK(
      bytes({{"scheme", "topka"}, {"ranks", 4}, {"components", 1000}, {"k", 10}, {"granule", 1}}) ==
      8 * 4 * 10);
  const Json huge = {{"scheme", "topka"},
                     {"ranks", 100'000},
                     {"components", 4'000'000'000},
                     {"k", 1'000'000'000},
                     {"granule", 1}};
  const plan::Point point = plan::point_from(huge, "test");
  CHECK(test::error_of<InputError>([&] { static_cast<void>(run_points("test", {point})); })
            .starts_with("topka of 100000 ranks and 4000000000 components: takes about 7.45e+05 "
                         "GiB of memory, and "));
  // Each has its place; both at once have not.
  Json half = huge;
  half["ranks"] = 64;
  half["k"] = static_cast<std::int64_t>(0.6 * static_cast<double>(available_memory()) / 512);
  CHECK(test::error_of<InputError>([&] {
          const std::vector<plan::Point> points(2, plan::point_from(half, "test"));
          static_cast<void>(run_points("test", points, {.processes = {.at_once = 2}}));
        }).starts_with("2 points that run at once: takes about "));
}

}  // namespace thinwire::run
