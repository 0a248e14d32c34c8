#include "sim/app/report/tables/baseline.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace thinwire::report {

namespace {

results::Row row_at(int ranks, double seconds, std::int64_t words = 10,
                    const char* network = "alphabeta") {
  results::Row row = results::failed_row(
      "test",
      plan::point_from(
          {{"scheme", "dense_ring"}, {"ranks", ranks}, {"components", 100}, {"network", network}},
          "test"),
      "");
  row.status = results::Status::ok;
  row.outcome.emplace();
  row.outcome->machine = row.point.machine;
  row.outcome->iteration_times = {Seconds(seconds)};
  row.outcome->words_received.max = words;
  return row;
}

results::Row without_result(int ranks) {
  results::Row row = row_at(ranks, 0);
  row.status = results::Status::failed;
  row.outcome.reset();
  return row;
}

std::vector<std::string> changes_of(const std::vector<Json>& records) {
  std::vector<std::string> changes;
  for (const Json& record : records) changes.push_back(record.at("change").get<std::string>());
  return changes;
}

}  // namespace

TEST_CASE("each point is held against the same point of the baseline") {
  const std::vector<results::Row> old{row_at(2, 1), row_at(3, 1),      row_at(4, 1), row_at(5, 1),
                                      row_at(6, 1), without_result(7), row_at(8, 1)};
  const std::vector<results::Row> now{row_at(2, 1),     row_at(3, 1.5),    row_at(4, 0.5),
                                      row_at(5, 1, 11), without_result(6), row_at(7, 1),
                                      row_at(9, 1)};
  const std::vector<Json> records = baseline_records(now, old, 1e-9);
  CHECK(changes_of(records) == std::vector<std::string>{"same", "slower", "faster", "traffic",
                                                        "failed", "mended", "new", "missing"});
  CHECK(records[1].at("time_ratio") == 1.5);
  CHECK(records[3].at("words_ratio") == 1.1);
  CHECK(records[6].at("baseline_time_s").is_null());
  CHECK(records[7].at("time_s").is_null());
  int passing = 0;
  for (const Json& record : records) passing += passes_gate(record) ? 1 : 0;
  CHECK(passing == 3);
  CHECK(changes_of(baseline_records(now, old, 0.5))[1] == "same");
  // A point that failed passes no gate, whether or not the baseline has it.
  for (const std::vector<results::Row>& before : {std::vector{without_result(6)}, {}}) {
    const std::vector<Json> failed = baseline_records({without_result(6)}, before, 1e-9);
    CHECK(changes_of(failed) == std::vector<std::string>{"no result"});
    CHECK_FALSE(passes_gate(failed.front()));
  }
  CHECK(to_table(records, baseline_columns(records)).find("slower") != std::string::npos);
}

TEST_CASE("a time of 0 equals one of 0, and is as far from every other one as can be") {
  const std::vector<results::Row> zero{row_at(1, 0, 0)};
  CHECK(changes_of(baseline_records(zero, zero, 0)) == std::vector<std::string>{"same"});
  const std::vector<Json> records = baseline_records({row_at(1, 1, 0)}, zero, 1e9);
  CHECK(changes_of(records) == std::vector<std::string>{"slower"});
  CHECK(records[0].at("time_ratio").is_null());
}

TEST_CASE("without a clock the steps are compared, and the last row of a point counts") {
  results::Row three = row_at(4, 0, 10, "counting");
  three.outcome->steps = 3;
  results::Row four = three;
  four.outcome->steps = 4;
  const std::vector<Json> records = baseline_records({three, four}, {three}, 0.1);
  REQUIRE(records.size() == 1);
  CHECK(records[0].at("change") == "slower");
  CHECK(records[0].at("baseline_steps") == 3);
  CHECK(records[0].at("steps") == 4);
  CHECK(records[0].at("time_s").is_null());
}

}  // namespace thinwire::report
