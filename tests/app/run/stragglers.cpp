// Ranks whose local work takes longer than the work of others.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/plan/plan.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::plan;
using namespace thinwire::results;
using namespace thinwire::run;

Outcome slow_outcome(Json point, const Json& stragglers) {
  if (!stragglers.is_null()) point["stragglers"] = stragglers;
  const Row row = simulate_point("test", point_from(point, "test"));
  REQUIRE(row.status == Status::ok);
  return *row.outcome;
}

Json ring_of(int ranks) {
  return {{"scheme", "dense_ring"},
          {"ranks", ranks},
          {"components", 840'000},
          {"machine", {{"gamma_s_per_word", 1e-9}}}};
}

}  // namespace

TEST_CASE("Each sum of a ring waits for the slowest rank") {
  for (const int ranks : {2, 3, 7, 12}) {
    CAPTURE(ranks);
    const Seconds alone = slow_outcome(ring_of(ranks), {}).time();
    for (const double factor : {1.0, 3.0, 10.0}) {
      CAPTURE(factor);
      const Json stragglers{{"ranks", 1}, {"factor", factor}};
      // P - 1 steps, each with a sum of n/P words that takes 1 ns each.
      const double more = (factor - 1) * (ranks - 1) * (840'000.0 / ranks) * 1e-9;
      const Outcome slow = slow_outcome(ring_of(ranks), stragglers);
      CHECK(slow.time().value() == test::approx(alone.value() + more).epsilon(1e-9));
      CHECK(slow.ranks_agree);
    }
  }
}

TEST_CASE("A training of one rank takes as many times as long, on every network") {
  for (const char* network : {"alphabeta", "links", "smpi"}) {
    CAPTURE(std::string(network));
    const Json point{{"scheme", "dense_ovlp"},
                     {"ranks", 1},
                     {"network", network},
                     {"platform", "alphabeta"},
                     {"workload", {{"model", "vgg16"}, {"device", "p100"}}}};
    const double alone = slow_outcome(point, {}).mean_time().value();
    const double slow = slow_outcome(point, {{"ranks", 1}, {"factor", 3}}).mean_time().value();
    CHECK(slow == test::approx(3 * alone).epsilon(1e-9));
  }
}

TEST_CASE("Work on the second strand is slow as well") {
  const Json point{{"scheme", "oktopk"},
                   {"ranks", 4},
                   {"workload", {{"model", "vgg16"}, {"device", "p100"}, {"by_layer", true}}}};
  const double alone = slow_outcome(point, {}).mean_time().value();
  const double slow = slow_outcome(point, {{"ranks", 4}, {"factor", 1e6}}).mean_time().value();
  // Messages take what they take, which is nothing beside so slow work.
  CHECK(slow > 1e5 * alone);
  const double slower = slow_outcome(point, {{"ranks", 4}, {"factor", 5e5}}).mean_time().value();
  CHECK(slow == test::approx(2 * slower).epsilon(1e-3));
}

TEST_CASE("Spread stays with a rank, jitter is drawn anew, and the seed draws both") {
  Json point = ring_of(8);
  point["iterations"] = 5;
  const std::vector<Seconds> same = slow_outcome(point, {{"spread", 0.3}}).iteration_times;
  REQUIRE(same.size() == 5);
  for (const Seconds time : same) CHECK(time == same.front());
  CHECK(same.front() > slow_outcome(point, {}).time());
  const std::vector<Seconds> other = slow_outcome(point, {{"jitter", 0.3}}).iteration_times;
  CHECK(other[1] != other[2]);
  CHECK(slow_outcome(point, {{"jitter", 0.3}}).iteration_times == other);
  point["seed"] = 2;
  CHECK(slow_outcome(point, {{"jitter", 0.3}}).iteration_times != other);
}

TEST_CASE("The paper's formula does not judge a run with stragglers") {
  Json point = ring_of(8);
  CHECK(compare(simulate_point("test", point_from(point, "test")), 1e-9).comparable());
  point["stragglers"] = {{"ranks", 1}};
  CHECK_FALSE(compare(simulate_point("test", point_from(point, "test")), 1e-9).comparable());
}

TEST_CASE("Stragglers that would change nothing are refused") {
  const auto refused = [](Json point, const Json& stragglers) {
    point["stragglers"] = stragglers;
    return test::error_of<InputError>([&] {
      plan::Usage usage;
      usage.add(plan::resolve({point, plan::Origin::config, "test"}));
      usage.check("test");
    });
  };
  CHECK(test::contains(refused(ring_of(8), {{"factor", 3}}), "no rank is slow"));
  CHECK(test::contains(refused(ring_of(8), {{"ranks", 9}}), "9 are more than the 8"));
  CHECK(test::contains(refused(ring_of(8), {{"ranks", 1}, {"factor", 0.5}}), "at least 1"));
  CHECK(test::contains(refused({{"scheme", "topka"}}, {{"ranks", 1}}),
                       "local work takes no time here"));
  Json counted = ring_of(8);
  counted["network"] = "counting";
  CHECK(test::contains(refused(counted, {{"ranks", 1}}), "does not use this setting"));
}
