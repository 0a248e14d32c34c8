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

TEST_CASE("Case and underscores do not matter, and a word that several names have names them all") {
  CHECK(did_you_mean("TopKA", kKnown) == "; did you mean 'topka'?");
  const std::array<std::string, 3> devices{"a100", "h100", "h200"};
  CHECK(did_you_mean("H100", devices) == "; did you mean 'h100'?");
  const std::array<std::string, 2> collectives{"allgather", "allreduce"};
  CHECK(did_you_mean("all_reduce", collectives) == "; did you mean 'allreduce'?");
  CHECK(did_you_mean("dense", kKnown) == "; did you mean one of dense_ring, dense_rabenseifner?");
  const std::array<std::string, 3> flags{"--model", "--density", "--ranks"};
  CHECK(did_you_mean("--nodes", flags).starts_with("; known are"));
  CHECK(did_you_mean("--modle", flags) == "; did you mean '--model'?");
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
