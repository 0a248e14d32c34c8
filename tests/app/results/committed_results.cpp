// Committed results, simulated again: no change of the code may move a figure unnoticed. A change
// that means to is listed under Results-affecting in CHANGELOG.md, and the results are made again.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/plan/point.hpp"
#include "sim/app/results/row.hpp"
#include "sim/app/run/simulate.hpp"
#include "tests/support/approx.hpp"

namespace thinwire::run {

namespace {

/// Simulates again the first rows of a results file that took no longer than `most_s`, at most
/// `most` of them, and compares every number of their results, times but for rounding. Gives how many
/// there were.
int simulate_again(const std::string& results, double most_s, int most) {
  std::ifstream file(THINWIRE_SOURCE_DIR "/results/" + results);
  REQUIRE(file);
  int count = 0;
  for (std::string line; count < most && std::getline(file, line);) {
    const Json committed = Json::parse(line);
    if (committed.at("status") != "ok" || committed.at("wall_s") > most_s) continue;
    const plan::Point point = results::row_from(committed, results).point;
    CAPTURE(point.scheme->name);
    CAPTURE(point.ranks);
    // Later versions may tell more, but nothing else.
    const Json again = to_json(simulate_point("again", point)).at("result").flatten();
    const Json before = committed.at("result").flatten();
    for (const auto& item : before.items()) {
      CAPTURE(item.key());
      const Json now = again.value(item.key(), Json("missing"));
      if (now.is_number_float() && item.value().is_number_float()) {
        CHECK(now.get<double>() == test::approx(item.value().get<double>()).epsilon(1e-12));
      } else {
        CHECK(now == item.value());
      }
    }
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("the committed rows of table1 come out again but for rounding" *
          doctest::test_suite("large")) {
  CHECK(simulate_again("table1/table1.jsonl", 1.2, 12) >= 2);
}

TEST_CASE("the committed rows of recorded trainings come out again but for rounding" *
          doctest::test_suite("large")) {
  CHECK(simulate_again("recorded/recorded.jsonl", 0.3, 144) >= 2);
}

TEST_CASE("committed rows of congested networks come out again but for rounding" *
          doctest::test_suite("large")) {
  CHECK(simulate_again("congestion/congestion.jsonl", 1.2, 8) >= 2);
}

// Messages that choose at one time do so in the order of ranks, and draw by rank and number.
TEST_CASE("a run whose messages take random paths keeps its digits") {
  const plan::Point point = plan::point_from({{"scheme", "oktopk"},
                                              {"ranks", 23},
                                              {"components", 200'000},
                                              {"network", "links"},
                                              {"platform", "aries_daint"},
                                              {"links", {{"routing", "valiant"}}}},
                                             "a test");
  const Json result = to_json(simulate_point("digits", point)).at("result");
  CHECK(result.at("iteration_times_s").at(1) == 4.572203587818104e-05);
}

}  // namespace thinwire::run
