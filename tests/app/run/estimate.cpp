// The estimate of how long a simulation takes.
#include "sim/app/run/estimate.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/approx.hpp"

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

}  // namespace thinwire::run
