#include "tools/accuracy/comparison.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/approx.hpp"
#include "tools/accuracy/report.hpp"

namespace thinwire::accuracy {

namespace {

Cell cell(const std::string& platform, const std::string& size, int ranks = 16) {
  return {.pattern = "ring", .platform = platform, .ranks = ranks, .size = size};
}

Measurement measurement(double time_s) {
  Measurement m;
  m.time_s = time_s;
  m.alphabeta_s = 1;
  m.messages = 10;
  m.words = 100;
  return m;
}

CellComparison compared(const Cell& which, double reference, double judged) {
  return compare(which, measurement(reference), measurement(judged));
}

/// Two platforms, two sizes: errors of 1%, 20% and 2%, 4%.
std::vector<CellComparison> hand_made() {
  return {compared(cell("a", "1kB"), 2, 2.02), compared(cell("a", "4MB", 64), 2, 1.6),
          compared(cell("b", "1kB"), 4, 4.08), compared(cell("b", "4MB", 64), 4, 3.84)};
}

}  // namespace

TEST_CASE("Median, 90th percentile and worst of errors follow their definitions") {
  CHECK(errors_of({}).cells == 0);
  CHECK(errors_of({0.5}).median == 0.5);
  CHECK(errors_of({0.5}).percentile == 0.5);
  CHECK(errors_of({0.3, 0.1}).median == test::approx(0.2));
  CHECK(errors_of({0.3, 0.1}).percentile == 0.3);
  // Ten: the ninth is what nine in ten do not exceed; eleven: the tenth.
  std::vector<double> errors{0.09, 0.01, 0.05, 0.03, 0.07, 0.02, 0.10, 0.04, 0.08, 0.06};
  CHECK(errors_of(errors).cells == 10);
  CHECK(errors_of(errors).median == test::approx(0.055));
  CHECK(errors_of(errors).percentile == 0.09);
  CHECK(errors_of(errors).worst == 0.10);
  CHECK(errors_of(errors).large == 0);
  errors.push_back(0.11);
  CHECK(errors_of(errors).median == 0.06);
  CHECK(errors_of(errors).percentile == 0.10);
  CHECK(errors_of(errors).worst == 0.11);
  CHECK(errors_of(errors).large == 1);
}

TEST_CASE("Errors are grouped by platform, pattern, size and ranks") {
  const std::vector<ErrorGroup> groups = error_groups(hand_made());
  const auto check = [&](std::size_t at, const char* by, const char* value, std::size_t cells,
                         double median, double worst) {
    CAPTURE(at);
    CHECK(groups[at].by == by);
    CHECK(groups[at].value == value);
    CHECK(groups[at].errors.cells == cells);
    CHECK(groups[at].errors.median == test::approx(median));
    CHECK(groups[at].errors.worst == test::approx(worst));
  };
  REQUIRE(groups.size() == 8);
  check(0, "all", "all", 4, 0.03, 0.2);
  check(1, "platform", "a", 2, 0.105, 0.2);
  check(2, "platform", "b", 2, 0.03, 0.04);
  check(3, "pattern", "ring", 4, 0.03, 0.2);
  check(4, "size", "1kB", 2, 0.015, 0.02);
  check(5, "size", "4MB", 2, 0.12, 0.2);
  check(6, "ranks", "16", 2, 0.015, 0.02);
  check(7, "ranks", "64", 2, 0.12, 0.2);
  CHECK(groups[0].errors.large == 1);
}

TEST_CASE("Cells above 10% are listed, the largest error first, too long or too short alike") {
  std::vector<CellComparison> cells = hand_made();
  cells.push_back(compared(cell("c", "1kB"), 1, 1.3));
  cells.push_back(compared(cell("c", "4MB"), 1, 1.099));
  const std::vector<CellComparison> large = large_errors(cells);
  REQUIRE(large.size() == 2);
  CHECK(large[0].cell.platform == "c");
  CHECK(large[1].cell.platform == "a");
}

TEST_CASE("A ratio needs both sides, and the same messages on both") {
  const Cell one = cell("a", "1kB");
  CHECK(compared(one, 2, 3).ratio() == 1.5);
  CHECK(compared(one, 2, 3).congestion() == 2);
  CHECK(compared(one, 0, 0).ratio() == 1);  // one rank
  CHECK(std::isinf(*compared(one, 0, 1).ratio()));

  CHECK(compare(one, measurement(1), std::nullopt).status == "missing");
  CHECK(compare(one, std::nullopt, measurement(1)).status == "missing");
  CHECK_FALSE(compare(one, std::nullopt, measurement(1)).ratio());
  Measurement slow = measurement(0);
  slow.status = CellStatus::too_slow;
  slow.reason = "took longer";
  CHECK(compare(one, slow, std::nullopt).status == "too_slow");
  CHECK(compare(one, slow, std::nullopt).reason == "smpi: took longer");
  slow.status = CellStatus::failed;
  CHECK(compare(one, measurement(1), slow).status == "failed");
  Measurement other = measurement(1);
  other.words = 99;
  CHECK(compare(one, other, measurement(1)).status == "stale");
  Cell dense = one;
  dense.pattern = "dense_ring";
  dense.size = "unequal";
  CHECK(compare(dense, measurement(1), measurement(1)).status == "skipped");
  CHECK(error_groups({compare(one, std::nullopt, std::nullopt)}).empty());
}

TEST_CASE("The report holds cells, errors, large errors and what has no ratio") {
  std::vector<CellComparison> cells = hand_made();
  cells.push_back(compare(cell("c", "1kB"), measurement(1), std::nullopt));
  const auto text = [&](TableFormat format, bool summary) {
    return report(cells, {.format = format, .summary = summary});
  };
  const std::string table = text(TableFormat::table, false);
  CHECK(table.find("links / smpi") != std::string::npos);
  CHECK(table.find("1.010") != std::string::npos);
  CHECK(table.find("0.800") != std::string::npos);
  CHECK(table.find("Above 10%") != std::string::npos);
  CHECK(table.find("missing") != std::string::npos);
  const std::string summary = text(TableFormat::table, true);
  CHECK(summary.find("1.010") == std::string::npos);
  CHECK(summary.find("20.00%") != std::string::npos);
  const std::string markdown = text(TableFormat::markdown, false);
  CHECK(markdown.find("| pattern | platform | ranks | 1kB | 4MB |\n|---|---|---:|") !=
        std::string::npos);
  CHECK(markdown.find("| ring | a | 16 | 1.010 |  |\n") != std::string::npos);
  CHECK(markdown.find("| ring | c | 16 | (missing) |  |\n") != std::string::npos);
  const std::string csv = text(TableFormat::csv, false);
  CHECK(csv.find("ring,a,16,1kB,block,2") != std::string::npos);
  const std::string lines = text(TableFormat::jsonl, false);
  CHECK(lines.find("\"kind\":\"errors\",\"by\":\"all\"") != std::string::npos);
}

}  // namespace thinwire::accuracy
