// Which gradients of a simulation have values.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "sim/app/plan/plan.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/core/gradient/dense_block.hpp"

namespace {

using namespace thinwire;

DenseBlock simulated_block(const Json& json) {
  const plan::Point point = plan::point_from(json, "test");
  const run::PointRanks ranks(point, {});
  return std::get<DenseBlock>(ranks.gradient(ranks.make_rank(), Rank(1), 1));
}

}  // namespace

TEST_CASE("The dense gradients of a simulation have no values if nothing depends on them") {
  const Json ring{{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 1003}};
  const DenseBlock block = simulated_block(ring);
  CHECK(block.is_valueless());
  CHECK(block.first() == 0);
  CHECK(block.last() == 1003);
  const Json quantised{{"scheme", "quantised_alltoall"}, {"ranks", 4}, {"components", 1003}};
  CHECK(simulated_block(quantised).values().size() == 1003);
}

TEST_CASE("The dense gradients of a simulation have values if somebody looks at them") {
  const Json ring{{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 1003}};
  run::PointRanks ranks(plan::point_from(ring, "test"), {});
  ranks.look_at_values();
  const auto gradient = ranks.gradient(ranks.make_rank(), Rank(1), 1);
  CHECK(std::get<DenseBlock>(gradient).values().size() == 1003);
}
