#include <fmt/format.h>

#include <utility>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

constexpr const char* kWantedSeconds = "a time in seconds, above 0, at most 1e9";

}  // namespace

std::vector<MeasuredRow> rows_of_csv(const std::string& text, const MeasuredFile& file) {
  const CsvTable table(text, file.path);
  table.require({"machine", "run", "test", "nodes", "tasks_per_node", "collective", "library",
                 "gpu", "algorithm", "segment", "elements", "seconds_median"});
  if (!file.facts.empty()) {
    throw InputError("{}: '{}' is a column of the CSV; leave the fact out", file.path,
                     file.facts.begin()->first);
  }
  std::vector<MeasuredRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    MeasuredRow row;
    row.machine = table.text(i, "machine");
    row.run = table.text(i, "run");
    row.test = table.text(i, "test");
    row.nodes = static_cast<int>(table.whole(i, "nodes", 1, 1 << 20));
    row.tasks_per_node = static_cast<int>(table.whole(i, "tasks_per_node", 1, 1 << 10));
    row.collective = known_collective(table.text(i, "collective"));
    row.library = table.text(i, "library");
    row.algorithm = table.text(i, "algorithm");
    if (row.machine.empty()) table.wrong(i, "machine", "the name of a machine");
    if (row.collective.empty()) table.wrong(i, "collective", "the name of a collective");
    const std::string gpu = yes_or_no(table.text(i, "gpu"));
    if (gpu != "yes" && gpu != "no") table.wrong(i, "gpu", "yes or no");
    row.gpu = gpu == "yes";
    if (!table.text(i, "segment").empty()) row.segment = table.whole(i, "segment", 1);
    row.elements = table.whole(i, "elements", 1);
    row.seconds = table.number(i, "seconds_median", kWantedSeconds);
    if (!is_time(row.seconds)) table.wrong(i, "seconds_median", kWantedSeconds);
    if (table.has("seconds_min")) {
      row.seconds_min = table.number(i, "seconds_min", kWantedSeconds);
      if (!is_time(row.seconds_min)) table.wrong(i, "seconds_min", kWantedSeconds);
    }
    row.place = table.place(i);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace thinwire::studies
