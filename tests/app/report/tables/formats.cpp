#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/app/report/tables/formats.hpp"

using namespace thinwire;
using namespace thinwire::report;

TEST_CASE("a table is aligned by characters, numbers to the right, without trailing blanks") {
  const std::vector<Json> records{{{"name", "α"}, {"n", 5}}, {{"name", "beta"}, {"n", 1234}}};
  const std::vector<report::Column> columns{
      {"name", [](const Json& r) { return r.at("name").get<std::string>(); }, true},
      {"n", [](const Json& r) { return report::number_text(r.at("n")); }}};
  CHECK(report::to_table(records, columns) == "name     n\nα        5\nbeta  1234\n");
}

TEST_CASE("CSV quotes what needs it, has a column for every key, and leaves null empty") {
  const std::vector<Json> records{{{"a", "x,\"y\""}, {"b", nullptr}}, {{"a", "z"}, {"c", 1.5}}};
  CHECK(report::to_csv(records) == "a,b,c\n\"x,\"\"y\"\"\",,\nz,,1.5\n");
  CHECK(report::to_csv({}).empty());
}

TEST_CASE("an interval of one value is that value") {
  CHECK(report::interval_text(1.5, 1.5) == "1.5");
  CHECK(report::interval_text(1.5, 2) == "1.5 .. 2");
  CHECK(report::interval_text(nullptr, nullptr) == "-");
}
