#include "tools/accuracy/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/report/tables/formats.hpp"

namespace thinwire::accuracy {

namespace {

Json time_of(const std::optional<Measurement>& measurement) {
  return measurement && measurement->status == CellStatus::ok ? Json(measurement->time_s) : Json();
}

Json record_of(const CellComparison& one) {
  Json record = {{"kind", "cell"}};
  record.update(to_json(one.cell));
  record["reference_s"] = time_of(one.reference);
  record["judged_s"] = time_of(one.judged);
  record["ratio"] = or_null(one.ratio());
  record["congestion"] = or_null(one.congestion());
  record["status"] = one.status.empty() ? "ok" : one.status;
  record["reason"] = one.reason.empty() ? Json() : Json(one.reason);
  return record;
}

Json record_of(const ErrorGroup& group) {
  return {{"kind", "errors"},
          {"by", group.by},
          {"value", group.value},
          {"cells", group.errors.cells},
          {"median", group.errors.median},
          {"percentile_90", group.errors.percentile},
          {"worst", group.errors.worst},
          {"above_10_percent", group.errors.large}};
}

template <class T>
std::vector<Json> records_of(const std::vector<T>& all) {
  std::vector<Json> records;
  for (const T& one : all) records.push_back(record_of(one));
  return records;
}

report::Column ratio_column(const std::string& heading, const std::string& key) {
  return {heading, [key](const Json& r) {
            return r.at(key).is_null() ? "-" : fmt::format("{:.3f}", r.at(key).get<double>());
          }};
}

report::Column percent_column(const std::string& heading, const std::string& key) {
  return {heading,
          [key](const Json& r) { return fmt::format("{:.2f}%", 100 * r.at(key).get<double>()); }};
}

std::vector<report::Column> cell_columns(const ReportSettings& settings) {
  return {report::column("pattern"),
          report::column("platform"),
          report::column("ranks"),
          report::column("size"),
          report::column("reference_s", settings.reference),
          report::column("judged_s", settings.judged),
          ratio_column("ratio", "ratio"),
          ratio_column("congestion", "congestion"),
          report::column("status")};
}

std::vector<report::Column> error_columns() {
  return {report::column("by"),
          report::column("value"),
          report::column("cells"),
          percent_column("median", "median"),
          percent_column("90th percentile", "percentile_90"),
          percent_column("worst", "worst"),
          report::column("above_10_percent", "above 10%")};
}

/// One row per pattern, platform and number of ranks, with the ratios of the sizes as columns.
std::vector<Json> by_size(const std::vector<CellComparison>& cells,
                          const std::vector<std::string>& sizes) {
  std::vector<Json> rows;
  std::map<std::string, std::size_t> places;
  for (const CellComparison& one : cells) {
    Json key = to_json(one.cell);
    key.erase("size");
    const auto [place, is_new] = places.emplace(key.dump(), rows.size());
    if (is_new) {
      for (const std::string& size : sizes) key[size] = "";
      rows.push_back(std::move(key));
    }
    const std::optional<double> ratio = one.ratio();
    rows[place->second][one.cell.size] =
        ratio ? fmt::format("{:.3f}", *ratio) : fmt::format("({})", one.status);
  }
  return rows;
}

std::vector<std::string> sizes_of(const std::vector<CellComparison>& cells) {
  std::vector<std::string> sizes;
  for (const CellComparison& one : cells) {
    if (std::ranges::find(sizes, one.cell.size) == sizes.end()) sizes.push_back(one.cell.size);
  }
  return sizes;
}

/// Groups cells without a ratio: their number, the reason, and one example.
std::vector<Json> without_ratio(const std::vector<CellComparison>& cells) {
  std::vector<Json> rows;
  for (const CellComparison& one : cells) {
    if (one.status.empty()) continue;
    const std::string reason = one.status == "stale" ? "another schedule" : one.reason;
    const auto same = std::ranges::find_if(rows, [&](const Json& r) {
      return r.at("status") == one.status && r.at("reason") == reason;
    });
    if (same != rows.end()) {
      (*same)["cells"] = same->at("cells").get<int>() + 1;
      continue;
    }
    rows.push_back({{"kind", "without_ratio"},
                    {"cells", 1},
                    {"status", one.status},
                    {"reason", reason},
                    {"first", name_of(one.cell)}});
  }
  return rows;
}

std::string pages(const std::vector<CellComparison>& cells, const ReportSettings& settings) {
  const bool markdown = settings.format == TableFormat::markdown;
  std::string text;
  const auto add = [&](const std::string& title, const std::vector<Json>& records,
                       const std::vector<report::Column>& columns) {
    if (records.empty()) return;
    if (!text.empty()) text += '\n';
    text += (markdown ? "## " + title + "\n\n" : title + "\n") +
            report::to_table(records, columns,
                             {.format = markdown ? report::Format::markdown : report::Format::table,
                              .wide = true});
  };
  const std::string ratio = fmt::format("{} / {}", settings.judged, settings.reference);
  if (!settings.summary && markdown) {
    const std::vector<std::string> sizes = sizes_of(cells);
    std::vector<report::Column> columns{report::column("pattern"), report::column("platform"),
                                        report::column("ranks")};
    for (const std::string& size : sizes) columns.push_back(report::column(size));
    add("Simulated time, " + ratio, by_size(cells, sizes), columns);
  } else if (!settings.summary) {
    add("Simulated time, " + ratio, records_of(cells), cell_columns(settings));
  }
  add(fmt::format("Errors, |{} - 1|", ratio), records_of(error_groups(cells)), error_columns());
  add("Above 10%", records_of(large_errors(cells)), cell_columns(settings));
  add("Without a ratio", without_ratio(cells),
      {report::column("cells"), report::column("status"), report::column("reason"),
       report::column("first")});
  return text;
}

}  // namespace

std::string report(const std::vector<CellComparison>& cells, const ReportSettings& settings) {
  const std::vector<Json> errors = records_of(error_groups(cells));
  switch (settings.format) {
    case TableFormat::csv:
      return report::to_csv(settings.summary ? errors : records_of(cells));
    case TableFormat::jsonl:
      return (settings.summary ? std::string() : report::to_json_lines(records_of(cells))) +
             report::to_json_lines(errors) + report::to_json_lines(without_ratio(cells));
    default:
      return pages(cells, settings);
  }
}

}  // namespace thinwire::accuracy
