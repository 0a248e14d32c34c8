#include "sim/app/report/tables/groups.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

Json record(const char* scheme, int ranks, Json time, const char* sweep = "a") {
  return {{"scheme", scheme}, {"ranks", ranks}, {"status", time.is_null() ? "failed" : "ok"},
          {"time_s", time},   {"ratio_low", 1}, {"ratio_high", nullptr},
          {"sweep", sweep}};
}

}  // namespace

TEST_CASE("a group tells how many there are, and the median, the least and the most") {
  const std::vector<Json> groups =
      group_records({record("x", 2, 4.0), record("y", 2, 7.0), record("x", 4, 1.0),
                     record("x", 4, nullptr), record("x", 8, 3.0), record("x", 8, 2.0)},
                    {"scheme"});
  REQUIRE(groups.size() == 2);
  const Json& x = groups[0];
  CHECK(x.at("schema") == "groups/1");
  CHECK(x.at("scheme") == "x");
  CHECK(x.at("count") == 5);
  CHECK(x.at("ok") == 4);
  CHECK(x.at("time_s_median") == 2.5);
  CHECK(x.at("time_s_min") == 1);
  CHECK(x.at("time_s_max") == 4);
  CHECK(x.at("ratio_low_median") == 1);
  CHECK_FALSE(x.contains("ratio_high_median"));  // nobody has it
  CHECK_FALSE(x.contains("congestion_factor_median"));
  CHECK_FALSE(x.contains("sweeps"));
  CHECK(groups[1].at("time_s_median") == 7);
}

TEST_CASE("a group has the means over iterations too, by which schemes are compared") {
  Json steady = record("x", 2, 4.0);
  Json periodic = record("y", 2, 3.0);
  steady["time_mean_s"] = 4.0;
  periodic["time_mean_s"] = 5.0;
  const std::vector<Json> groups = group_records({steady, periodic}, {"scheme"});
  CHECK(groups[0].at("time_mean_s_median") == 4);
  CHECK(groups[1].at("time_mean_s_median") == 5);
  CHECK(groups[1].at("time_s_median") == 3);
}

TEST_CASE("groups by several columns keep the order in which they come up") {
  const std::vector<Json> groups = group_records(
      {record("y", 4, 1.0), record("x", 2, 1.0), record("y", 2, 1.0), record("y", 4, 3.0)},
      {"scheme", "ranks"});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].at("count") == 2);
  CHECK(groups[0].at("time_s_median") == 2);
  CHECK(groups[1].at("scheme") == "x");
  CHECK(groups[2].at("ranks") == 2);
}

TEST_CASE("groups where nothing ran have no spread, and groups of several sweeps name them") {
  const std::vector<Json> groups = group_records(
      {record("x", 2, nullptr, "b"), record("y", 2, 1.0, "c"), record("y", 2, 1.0)}, {"scheme"});
  CHECK(groups[0].at("ok") == 0);
  CHECK(groups[0].at("time_s_median").is_null());
  CHECK(groups[0].at("sweeps") == "b");
  CHECK(groups[1].at("sweeps") == "a,c");
  CHECK(to_table(groups, group_columns(groups, {"scheme"})) ==
        "scheme  count  ok  sweeps  time_median  ratio_low_median\n"
        "x           1   0  b                 -                 1\n"
        "y           2   2  a,c             1 s                 1\n");
}

TEST_CASE("groups count the results that select far from k, if any does") {
  const std::vector<Json> records{
      {{"scheme", "a"}, {"status", "ok"}, {"time_s", 1.0}, {"verdict", "selection"}},
      {{"scheme", "b"}, {"status", "ok"}, {"time_s", 2.0}, {"verdict", "exact"}},
      {{"scheme", "a"}, {"status", "skipped"}, {"verdict", "-"}}};
  const std::vector<Json> groups = group_records(records, {"scheme"});
  CHECK(groups.at(0).at("far_from_k") == 1);
  CHECK(groups.at(0).at("ok") == 1);
  CHECK(groups.at(1).at("far_from_k") == 0);
  CHECK_FALSE(group_records({records.at(1)}, {"scheme"}).front().contains("far_from_k"));
}

TEST_CASE("an order of values puts numbers by size, texts by letters, and what is null last") {
  CHECK(comes_before(9, 10));
  CHECK(comes_before("10", "9"));
  CHECK(comes_before(1, nullptr));
  CHECK_FALSE(comes_before(nullptr, 1));
  CHECK_FALSE(comes_before(nullptr, nullptr));
  CHECK_FALSE(comes_before(2, 2.0));
}

TEST_CASE("an unknown column is refused with the nearest one") {
  CHECK_THROWS_WITH_AS(static_cast<void>(key_of_name("--group-by", "rank", {"ranks", "scheme"})),
                       "--group-by: no column is called 'rank'; did you mean 'ranks'?", InputError);
}

}  // namespace thinwire::report
