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
    // The dense sum is that of the schemes that send all values as they are.
    CHECK((report.convergence == Convergence::exact) == (scheme.dense && !scheme.approximate));
  }
  CHECK(convergence_of("topka+random_k").convergence == Convergence::unknown);
  CHECK(name_of(convergence_of("cltk").convergence) == "worse");
}

}  // namespace thinwire::algorithms
