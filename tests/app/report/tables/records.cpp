// The records of rows: what CSV and JSON have as columns.
#include "sim/app/report/tables/records.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/sparsifiers/sparsifier.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::report {

TEST_CASE("a record, a row and the documentation have each kind of work of a selection") {
  results::Row row =
      results::failed_row("test", plan::point_from({{"scheme", "topka"}}, "test"), "");
  row.status = results::Status::ok;
  results::Outcome& outcome = row.outcome.emplace();
  outcome.iteration_times = {Seconds(1)};
  results::SelectionSummary& selection = outcome.selection.emplace();
  std::int64_t count = 0;
  for (const auto& [name, kind] : algorithms::kWorkKinds) selection.work.*kind = ++count;

  const Json record = record_of(row, compare(row, 0));
  CHECK(record.at("formula_by") == "paper");
  CHECK(record.at("verdict_mean").is_null());
  const Json result = to_json(row).at("result").at("selection");
  const std::string documented = read_text(THINWIRE_SOURCE_DIR "/docs/reference/columns.md");
  count = 0;
  for (const auto& [name, kind] : algorithms::kWorkKinds) {
    const std::string column = std::string(name) + "_max";
    CAPTURE(column);
    CHECK(record.at(column) == ++count);
    CHECK(result.at(column) == count);
    CHECK(documented.find('`' + column + '`') != std::string::npos);
  }
}

}  // namespace thinwire::report
