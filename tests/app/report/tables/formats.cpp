#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/app/report/tables/formats.hpp"

using namespace thinwire;
using namespace thinwire::report;

TEST_CASE("a table is aligned by characters, numbers to the right, without trailing blanks") {
  const std::vector<Json> records{{{"name", "α"}, {"n", 5}}, {{"name", "beta"}, {"n", 1234}}};
  const std::vector<report::Column> columns{
      {"name", [](const Json& r) { return r.at("name").get<std::string>(); }},
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

TEST_CASE("values have the units of their keys") {
  CHECK(report::text_of_value("time_mean_s", 0.0026798) == "2.68 ms");
  CHECK(report::text_of_value("time_mean_s_median", 61.2e-6) == "61.2 µs");
  CHECK(report::text_of_value("time_s", 0) == "0 s");
  CHECK(report::text_of_value("time_s", 9.9999e-4) == "1 ms");
  CHECK(report::text_of_value("machine.beta_s_per_word", 4e-10) == "0.4 ns");
  CHECK(report::text_of_value("size_bytes", 534189296) == "534.2 MB");
  CHECK(report::text_of_value("size_bytes", 65536) == "64 KiB");
  CHECK(report::text_of_value("algbw_bytes_per_s", 199.33e9) == "199.3 GB/s");
  CHECK(report::text_of_value("bisection_Bps", 25e9) == "25 GB/s");
  CHECK(report::text_of_value("samples_per_s", 12345.678) == "1.235e+04");
  CHECK(report::text_of_value("components", 133547324) == "133547324");
  CHECK(report::text_of_value("ranks_agree", true) == "yes");
  CHECK(report::text_of_value("k", nullptr) == "-");
  const Json record{{"low_s", 2e-6}, {"high_s", 0.003}, {"last_s", 0.004}};
  CHECK(report::interval("a", "low_s", "high_s").text(record) == "2 µs .. 3 ms");
  CHECK(report::interval("a", "high_s", "last_s").text(record) == "3 .. 4 ms");
  CHECK(report::interval("a", "low_s", "low_s").text(record) == "2 µs");
}

TEST_CASE("a column is known by its name in headings and in files") {
  const std::vector<std::string> keys{"scheme",    "time_s",          "time_mean_s",
                                      "ratio_low", "machine.alpha_s", "time_s_median"};
  const auto found = [&](const char* name) { return report::find_key(name, keys).value_or(""); };
  CHECK(found("time_mean_s") == "time_mean_s");
  CHECK(found("time_mean") == "time_mean_s");
  CHECK(found("time") == "time_s");
  CHECK(found("time_median") == "time_s_median");
  CHECK(found("ratio") == "ratio_low");
  CHECK(found("alpha") == "machine.alpha_s");
  CHECK(found("alpha_s") == "machine.alpha_s");
  CHECK(found("machine.alpha") == "machine.alpha_s");
  CHECK(found("mean").empty());
}

TEST_CASE("on a terminal, names of columns break and a table is folded rather than too wide") {
  const std::vector<Json> records{{{"scheme", "oktopk"}, {"congestion_factor", 1.5}, {"a_b", 2}}};
  const std::vector<report::Column> columns{
      report::column("scheme"), report::column("congestion_factor"), report::column("a_b")};
  const auto text = [&](std::size_t width, bool folds) {
    return report::to_table(records, columns, {.width = width, .folds = folds});
  };
  const std::string whole = "scheme  congestion_factor  a_b\noktopk                1.5    2\n";
  CHECK(text(30, true) == whole);
  CHECK(text(29, true) ==
        "scheme  congestion_  a_b\n             factor\noktopk          1.5    2\n");
  CHECK(text(19, true) ==
        "scheme  congestion_\n             factor\noktopk          1.5\n\nscheme  a_\n         b\n"
        "oktopk   2\n");
  CHECK(text(19, false) == whole);
  CHECK(report::to_table(records, {report::column("scheme")}, {.width = 3, .folds = true}) ==
        "scheme\noktopk\n");
}

TEST_CASE("a table fits its width, by columns that go and texts that break") {
  const std::vector<Json> records{{{"scheme", "oktopk"},
                                   {"time_s", 0.5},
                                   {"ranks", 8},
                                   {"note", "one two three four five six"}}};
  const std::vector<report::Column> columns{
      report::column("scheme"), report::column("time_s", {}, report::Shown::if_room),
      report::column("ranks", {}, report::Shown::if_wide), report::column("note")};
  const auto text = [&](report::View view) { return report::to_table(records, columns, view); };
  CHECK(text({.width = 100}) ==
        "scheme    time  note\noktopk  500 ms  one two three four five six\n");
  CHECK(text({.width = 36}) == "scheme  note\noktopk  one two three four five six\n");
  CHECK(text({.width = 30}) == "scheme  note\noktopk  one two three four\n        five six\n");
  CHECK(text({.wide = true, .width = 10}).find("ranks") != std::string::npos);
  CHECK(text({.columns = {"ranks", "time_s"}, .width = 100}) == "ranks    time\n    8  500 ms\n");
  CHECK(text({.format = Format::markdown}) ==
        "| scheme | time | note |\n|---|---:|---|\n| oktopk | 500 ms | one two three four five six "
        "|\n");
  const report::View csv{.format = Format::csv, .columns = {"time", "scheme"}};
  CHECK(report::render(csv, records, columns) == "time_s,scheme\n0.5,oktopk\n");
}
