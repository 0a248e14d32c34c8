#include "algorithms/registry.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::algorithms {

using test::contains;
using test::error_of;

namespace {

std::string registry_refusal(const std::string& name) {
  return error_of<InputError>([&] { static_cast<void>(find_scheme(name)); });
}

}  // namespace

TEST_CASE("Every scheme is found by its name and says what it is") {
  std::set<std::string> names;
  for (const SchemeInfo& info : all_schemes()) {
    CAPTURE(info.name);
    names.insert(info.name);
    CHECK(find_scheme(info.name).name == info.name);
    CHECK_FALSE(info.summary.empty());
    CHECK_FALSE(info.source.empty());
    CHECK_FALSE(info.paper.latency.empty());
    CHECK_FALSE(info.paper.words.empty());
    CHECK(info.make);
    CHECK(info.run_cost);
    REQUIRE(info.restriction);
    for (const int ranks : test::kRankCounts) {
      CHECK_FALSE(info.restriction(ranks, 1000).has_value());
    }
    for (const OptionInfo& option : info.options) CHECK_FALSE(option.help.empty());
    CHECK_NOTHROW(Options(info.options, {}));
  }
  CHECK(names.size() == all_schemes().size());
}

TEST_CASE("An unknown scheme is refused with the one that was meant") {
  CHECK(registry_refusal("ok_topk") == "unknown scheme 'ok_topk'; did you mean 'oktopk'?");
  CHECK(registry_refusal("densering") == "unknown scheme 'densering'; did you mean 'dense_ring'?");
  CHECK(contains(registry_refusal("topk"), "did you mean 'topka'?"));
  CHECK(
      contains(registry_refusal("xyzzyxyzzyxyzzy"), "known are dense_rabenseifner, dense_ring, "));
}

TEST_CASE("A scheme with its own sparsifier is the scheme") {
  int sparse = 0;
  for (const SchemeInfo& scheme : all_schemes()) {
    if (scheme.dense) continue;
    CAPTURE(scheme.name);
    const SchemeInfo& composed = find_scheme(scheme.name + "+" + scheme.sparsifier);
    CHECK(composed.name == scheme.name + "+" + scheme.sparsifier);
    REQUIRE(composed.options.size() == scheme.options.size());
    for (std::size_t i = 0; i < scheme.options.size(); ++i) {
      CHECK(composed.options[i].name == scheme.options[i].name);
      CHECK(composed.options[i].fallback == scheme.options[i].fallback);
    }
    ++sparse;
  }
  CHECK(sparse > 20);
}

TEST_CASE("The low end of every cost is not above its high end") {
  for (const SchemeInfo& info : all_schemes()) {
    const Options options(info.options, {});
    for (const int ranks : test::kRankCounts) {
      for (const std::int64_t k : {0, 1, 1000, 100000}) {
        for (const int iteration : {1, 2, 33, 65}) {
          CAPTURE(info.name);
          CAPTURE(ranks);
          CAPTURE(k);
          const Cost cost = info.cost(
              {.ranks = ranks, .n = 100000, .k = k, .iteration = iteration, .options = &options});
          // Papers have n much larger than k.
          const Interval paper = 2 * k > 100000 ? Interval{} : cost.paper;
          for (const Interval& interval : {paper, cost.counted, cost.counted + cost.added}) {
            CHECK(interval.low.messages <= interval.high.messages);
            CHECK(interval.low.words <= interval.high.words);
            CHECK(interval.low.reduced <= interval.high.reduced);
          }
          if (ranks == 1) {
            CHECK(cost.counted.high.reduced + cost.added.high.reduced >= 0);
            CHECK(cost.counted.high.messages + cost.added.high.messages == 0);
            CHECK(cost.counted.high.words + cost.added.high.words == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("What is registered wrongly is refused, and changes nothing") {
  const std::size_t schemes = all_schemes().size();
  const std::size_t sparsifiers = all_sparsifiers().size();
  const auto refused = [](SchemeInfo scheme) {
    return error_of<InputError>([&] { register_scheme(scheme); });
  };
  SchemeInfo scheme = find_scheme("topka");
  CHECK(contains(refused(scheme), "there is a scheme 'topka' already"));
  for (const char* name : {"", "Own", "own scheme", "own+dgc", "own,other", "../own"}) {
    scheme.name = name;
    CHECK(contains(refused(scheme), "cannot be called '" + scheme.name + "'"));
  }
  scheme.name = "own";
  SchemeInfo wrong = scheme;
  wrong.paper.words = "2q";
  CHECK(contains(refused(wrong), "the cost of scheme 'own': "));
  wrong = scheme;
  wrong.run_cost = {};
  CHECK(contains(refused(wrong), "no 'run_cost'"));
  wrong = scheme;
  wrong.make = {};
  wrong.collective = {};
  CHECK(contains(refused(wrong), "neither 'make' nor 'collective'"));
  wrong.collective = scheme.collective;
  wrong.sparsifier = "no_such";
  CHECK(contains(refused(wrong), "unknown sparsifier 'no_such'"));

  SparsifierInfo sparsifier = find_sparsifier("dgc");
  const auto refused_sparsifier = [&] {
    return error_of<InputError>([&] { register_sparsifier(sparsifier); });
  };
  CHECK(contains(refused_sparsifier(), "there is a sparsifier 'dgc' already"));
  sparsifier.name = "own";
  sparsifier.make = {};
  CHECK(contains(refused_sparsifier(), "sparsifier 'own' has no 'make'"));
  CHECK(all_schemes().size() == schemes);
  CHECK(all_sparsifiers().size() == sparsifiers);
}

}  // namespace thinwire::algorithms
