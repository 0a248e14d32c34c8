// The schema of a results file, held against real rows of every kind.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "sim/app/results/row.hpp"
#include "tests/app/cli/program.hpp"

namespace thinwire::run {

namespace {

using Plain = nlohmann::json;
using testing::run_program;
using testing::TemporaryFolder;
using testing::text_of;

Plain schema_file(const std::string& name) {
  return Plain::parse(text_of(std::string(THINWIRE_SOURCE_DIR) + "/sim/app/plan/schemas/" + name));
}

/// The schema of rows with the schema of points in it, where it refers to the other file.
Plain row_schema() {
  Plain schema = schema_file("row.schema.json");
  Plain& point = schema.at("properties").at("point");
  REQUIRE(point.at("allOf").at(0).at("$ref") == "sweep.schema.json#/definitions/point");
  point = schema_file("sweep.schema.json").at("definitions").at("point");
  return schema;
}

/// What is wrong with a document; nothing where it is right.
std::string complaint(const Plain& document, const Plain& of_schema) {
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(of_schema), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) {
    return {};
  }
  std::string text;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& key : error.context) text += key;
    text += ": " + error.description + "\n";
  }
  return text;
}

/// What is wrong with a row.
std::string complaint(const Plain& row) {
  static const Plain kSchema = row_schema();
  return complaint(row, kSchema);
}

Plain row_of(const std::string& flags) {
  return Plain::parse(run_program("run --format jsonl " + flags).out);
}

}  // namespace

TEST_CASE("rows of every kind are as row.schema.json says") {
  for (const std::string flags :
       {"-P 1 -n 1000", "-P 7 -n 1000 --scheme topka", "-P 5 -n 1000 --scheme dense_ring --by-rank",
        "-P 3 -n 1000 --network counting",
        "-P 4 -n 1000 --network smpi --platform fat_tree --links",
        "-P 4 -n 1000 --platform fat_tree", "-P 3 --scheme exdyna -n 10000 --iterations 3",
        "-P 4 --model bert --statistical --scheme oktopk",
        "-P 4 --profile lstm --statistical --scheme dragonn+dgc"}) {
    CAPTURE(flags);
    const Plain row = row_of(flags);
    CHECK(row.at("status") == "ok");
    CHECK(row.at("schema") == results::kRowSchema);
    CHECK(complaint(row) == "");
  }
}

TEST_CASE("skipped and failed rows are as row.schema.json says") {
  const TemporaryFolder folder;
  const std::string sweep =
      folder.write("s.json", R"({"name":"s","base":{"components":1000,"network":"smpi"},
                    "grid":{"ranks":[4,100000],"platform":["fat_tree","no_such_platform.xml"]}})");
  (void)run_program("sweep " + sweep + " -o " + folder.path("s.jsonl"));
  std::istringstream lines(text_of(folder.path("s.jsonl")));
  std::set<std::string> statuses;
  for (std::string line; std::getline(lines, line);) {
    const Plain row = Plain::parse(line);
    CHECK(complaint(row) == "");
    statuses.insert(row.at("status"));
  }
  CHECK(statuses == std::set<std::string>{"ok", "skipped", "failed"});
}

TEST_CASE("row.schema.json refuses what is no row") {
  const Plain good = row_of("-P 2 -n 1000");
  const auto refused = [&](const char* pointer, const Plain& value) {
    Plain bad = good;
    bad[Plain::json_pointer(pointer)] = value;
    return !complaint(bad).empty();
  };
  CHECK(complaint(good) == "");
  CHECK(refused("/schema", 1));
  CHECK(refused("/key", "xyz"));
  CHECK(refused("/status", "done"));
  CHECK(refused("/result", nullptr));  // though it is ok
  CHECK(refused("/result/time_s", -1));
  CHECK(refused("/result/words_sent_max", 1.5));
  CHECK(refused("/result/selection/selected_min", "many"));
  CHECK(refused("/result/something_new", 1));
  CHECK(refused("/point/rank", 4));
}

TEST_CASE("The schema of sweeps takes every shipped sweep, and refuses what the program refuses") {
  const Plain schema = schema_file("sweep.schema.json");
  int sweeps = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(
           std::string(THINWIRE_SOURCE_DIR) + "/sweeps")) {
    if (!file.is_regular_file()) continue;
    CAPTURE(file.path().string());
    CHECK(complaint(Plain::parse(text_of(file.path().string())), schema).empty());
    ++sweeps;
  }
  CHECK(sweeps >= 20);
  const TemporaryFolder folder;
  for (const char* base :
       {R"({"scheme": "okotpk"})", R"({"platform": "nope"})", R"({"scheme": "dense_ring+dgc"})",
        R"({"options": {"tua": 3}})", R"({"input": {"trace": "nope"}})", R"({"ranks": 0})"}) {
    CAPTURE(base);
    const Plain sweep = {{"name", "wrong"}, {"base", Plain::parse(base)}};
    CHECK_FALSE(complaint(sweep, schema).empty());
    CHECK(run_program("sweep --dry-run " + folder.write("wrong.json", sweep.dump())).exit_code ==
          2);
  }
  const Plain grid = {{"name", "wrong"}, {"grid", {{"rank", {4}}}}};
  CHECK_FALSE(complaint(grid, schema).empty());
  const Plain options = {{"name", "wrong"}, {"grid", {{"options.tua", {3}}}}};
  CHECK_FALSE(complaint(options, schema).empty());
  const Plain right = {{"name", "right"},
                       {"base", {{"scheme", "oktopk+dgc"}, {"platform", "./mine.xml"}}},
                       {"grid", {{"ranks", {4, 8}}, {"options.tau", {1, 2}}}}};
  CHECK(complaint(right, schema).empty());
}

}  // namespace thinwire::run
