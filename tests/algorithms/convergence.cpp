#include "algorithms/convergence.hpp"

#include <doctest/doctest.h>

#include "algorithms/registry.hpp"

namespace thinwire::algorithms {

TEST_CASE("Every allreduce has a report about its convergence, with a source where it says more") {
  for (const SchemeInfo& scheme : schemes_of(Collective::allreduce)) {
    CAPTURE(scheme.name);
    const ConvergenceReport report = convergence_of(scheme.name);
    CHECK(report.text != "no report about this scheme");
    CHECK(report.source.empty() == (report.convergence == Convergence::unknown));
    // Schemes that send all values as they are give the dense sum.
    CHECK((report.convergence == Convergence::exact) == (scheme.dense && !scheme.approximate));
  }
  CHECK(convergence_of("topka+random_k").convergence == Convergence::unknown);
  CHECK(name_of(convergence_of("cltk").convergence) == "worse");
}

TEST_CASE("Of the trainings of a scheme the nearest counts, by density first") {
  const auto near = [](std::string_view scheme, double density, int ranks) {
    return measured_convergence(scheme, density, ranks);
  };
  REQUIRE(near("topka", 0.001, 8).has_value());
  CHECK(near("topka", 0.001, 64)->density == 0.002);
  CHECK(near("topka", 0.001, 64)->low <= near("topka", 0.001, 64)->points_above_dense);
  CHECK(near("topka", 0.02, 8)->density == 0.01);
  CHECK(near("topka", 0.02, 8)->ranks == 8);
  CHECK(near("oktopk", 0.002, 8)->points_above_dense < 0);
  CHECK_FALSE(near("dense_ring", 1, 8).has_value());
  CHECK_FALSE(near("topka", 0, 8).has_value());
}

TEST_CASE("What was measured is about registered sparse schemes") {
  int measured = 0;
  for (const SchemeInfo& scheme : schemes_of(Collective::allreduce)) {
    const auto found = measured_convergence(scheme.name, 0.01, 8);
    if (!found) continue;
    ++measured;
    CAPTURE(scheme.name);
    CHECK_FALSE(scheme.dense);
    CHECK(found->seeds >= 2);
    CHECK(found->low <= found->points_above_dense);
    CHECK(found->high >= found->points_above_dense);
    CHECK(found->points_above_dense > -100);
  }
  CHECK(measured >= 10);
}

}  // namespace thinwire::algorithms
