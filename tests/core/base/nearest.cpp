#include "sim/core/base/nearest.hpp"

#include <doctest/doctest.h>

#include <array>

namespace thinwire::inline base {

namespace {

const std::array<std::string, 4> kKnown{"dense_ring", "dense_rabenseifner", "topka", "oktopk"};

}  // namespace

TEST_CASE("A slip of the pen is answered with the name that was meant") {
  CHECK(did_you_mean("topk", kKnown) == "; did you mean 'topka'?");
  CHECK(did_you_mean("topak", kKnown) == "; did you mean 'topka'?");
  CHECK(did_you_mean("ok_topk", kKnown) == "; did you mean 'oktopk'?");
  CHECK(did_you_mean("dense_rign", kKnown) == "; did you mean 'dense_ring'?");
}

TEST_CASE("A part of a known name is answered with the name") {
  CHECK(did_you_mean("ring", kKnown) == "; did you mean 'dense_ring'?");
}

TEST_CASE("What is near nothing is answered with all that is known") {
  CHECK(did_you_mean("zzzzzzzzzz", kKnown) ==
        "; known are dense_ring, dense_rabenseifner, topka, oktopk");
  const std::array<std::string, 1> one{"sparse"};
  CHECK(did_you_mean("", one) == "; known are sparse");
}

TEST_CASE("Where no name is known that is said") {
  CHECK(did_you_mean("anything", {}) == "; there are none");
}

}  // namespace thinwire::inline base
