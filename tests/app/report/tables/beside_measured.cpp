#include "sim/app/report/tables/beside_measured.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace thinwire::report {

namespace {

results::Row row_on(const char* network, Json given, double seconds) {
  given["network"] = network;
  const plan::Point point = plan::point_from(given, "test");
  results::Row row = results::failed_row("test", point, "");
  row.status = results::Status::ok;
  row.outcome.emplace();
  row.outcome->machine = point.machine;
  row.outcome->iteration_times = {Seconds(seconds)};
  return row;
}

results::Row measured_row(const Json& given, double seconds) {
  results::Row row = row_on("mpi", given, 9);
  row.outcome->measured = results::Measured{
      .time = {.median = Seconds(seconds), .least = Seconds(1), .p10 = {}, .p90 = Seconds(3)},
      .library = "a library",
      .hosts = {}};
  return row;
}

}  // namespace

TEST_CASE("A measured time stands beside each simulated one of the same computation") {
  const Json sparse{{"scheme", "topka"}, {"ranks", 4}, {"components", 100}, {"k", 5}};
  Json other_seed = sparse;
  other_seed["seed"] = 2;
  Json on_platform = sparse;
  on_platform["platform"] = "fat_tree";
  on_platform["iterations"] = 7;
  const std::vector<Json> records = beside_measured(
      {measured_row(sparse, 2), row_on("alphabeta", sparse, 1), row_on("alphabeta", other_seed, 1),
       row_on("links", on_platform, 3), row_on("counting", sparse, 0)});
  REQUIRE(records.size() == 2);
  CHECK(records[0].at("schema") == "beside_measured/1");
  CHECK(records[0].at("measured_s") == 2);
  CHECK(records[0].at("measured_min_s") == 1);
  CHECK(records[0].at("measured_p90_s") == 3);
  CHECK(records[0].at("network") == "alphabeta");
  CHECK(records[0].at("platform").is_null());
  CHECK(records[0].at("simulated_over_measured") == 0.5);
  // log P messages, and 2k (P-1) words: 2 alpha + 30 beta.
  CHECK(records[0].at("formula_low_s").get<double>() == test::approx(2 * 2e-6 + 30 * 4e-10));
  CHECK(records[1].at("platform") == "fat_tree");
  CHECK(records[1].at("simulated_over_measured") == 1.5);
  CHECK(to_table(records, beside_measured_columns()).find("fat_tree") != std::string::npos);
}

TEST_CASE("Of dense schemes neither k nor the seed matters, and what has no partner stands alone") {
  const Json dense{{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 100}, {"k", 5}};
  Json others{{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 100}, {"k", 9}, {"seed", 3}};
  CHECK(beside_measured({measured_row(dense, 2), row_on("alphabeta", others, 1)})
            .front()
            .at("simulated_s") == 1);
  others["ranks"] = 8;
  const std::vector<Json> alone =
      beside_measured({measured_row(dense, 2), row_on("alphabeta", others, 1)});
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].at("simulated_s").is_null());
  CHECK(alone[0].at("k").is_null());
  CHECK(to_table(alone, beside_measured_columns()).find('-') != std::string::npos);
  CHECK(beside_measured({row_on("alphabeta", others, 1)}).empty());
}

TEST_CASE("Measured and simulated times of a network and number of ranks are a panel") {
  const Json sparse{{"scheme", "topka"}, {"ranks", 4}, {"components", 100}, {"k", 5}};
  const Json dense{{"scheme", "dense_ring"}, {"ranks", 4}, {"components", 100}};
  Json alone = dense;
  alone["ranks"] = 8;
  const std::vector<Json> rows =
      measured_curves({measured_row(sparse, 2), measured_row(dense, 4), measured_row(alone, 4),
                       row_on("alphabeta", sparse, 1), row_on("alphabeta", dense, 8),
                       row_on("counting", dense, 0)});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("panel") == "alphabeta, allreduce, 4 ranks");
  CHECK(rows[1].at("panel") == rows[0].at("panel"));
  CHECK(rows[0].at("algorithm") == "topka d=0.05");
  CHECK(rows[1].at("algorithm") == "dense_ring");
  CHECK(rows[0].at("error") == -1);
  CHECK(rows[1].at("error") == 1);
}

}  // namespace thinwire::report
