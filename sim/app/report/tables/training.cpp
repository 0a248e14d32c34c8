#include "sim/app/report/tables/training.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace thinwire::report {

namespace {

/// The description of a point except for its ranks.
std::string group_of(const experiment::Point& point) {
  Json json = to_json(point);
  json.erase("ranks");
  return json.dump();
}

Json record_of(const experiment::Row& row, const experiment::Row& smallest) {
  const experiment::Point& point = row.point;
  Json record = {{"model", point.workload.model},
                 {"device", point.workload.device},
                 {"scheme", point.scheme},
                 {"network", point.network},
                 {"platform", point.platform.empty() ? Json() : Json(point.platform)},
                 {"ranks", point.ranks}};
  for (const char* key : {"iteration_s", "computation_s", "sparsification_s", "communication_s",
                          "samples_per_s", "hours_per_100k_iterations", "efficiency"}) {
    record[key] = nullptr;
  }
  if (!row.outcome) return record;
  const experiment::TrainingOutcome& training = *row.outcome->training;
  const double time = training.mean.total().value();
  record["iteration_s"] = time;
  record["computation_s"] = training.mean.computation.value();
  record["sparsification_s"] = training.mean.sparsification.value();
  record["communication_s"] = training.mean.communication.value();
  record["samples_per_s"] = training.samples_per_s;
  record["hours_per_100k_iterations"] = time * kReportedIterations / 3600;
  if (smallest.outcome && time > 0) {
    record["efficiency"] = smallest.outcome->training->mean.total().value() / time;
  }
  return record;
}

}  // namespace

std::vector<Json> training_records(const std::vector<experiment::Row>& rows) {
  std::map<std::string, const experiment::Row*> smallest;
  for (const experiment::Row& row : rows) {
    if (row.point.workload.model.empty() || !row.outcome) continue;
    const experiment::Row*& best = smallest[group_of(row.point)];
    if (best == nullptr || row.point.ranks < best->point.ranks) best = &row;
  }
  std::vector<Json> records;
  for (const experiment::Row& row : rows) {
    if (row.point.workload.model.empty()) continue;
    const auto found = smallest.find(group_of(row.point));
    records.push_back(record_of(row, found == smallest.end() ? row : *found->second));
  }
  return records;
}

std::vector<Column> training_columns() {
  const auto text = [](const char* key) {
    return Column{
        key,
        [key](const Json& r) { return r.at(key).is_null() ? "-" : r.at(key).get<std::string>(); },
        true};
  };
  std::vector<Column> columns{text("model"), text("device"), text("scheme"), text("network"),
                              text("platform")};
  for (const char* key :
       {"ranks", "iteration_s", "computation_s", "sparsification_s", "communication_s",
        "samples_per_s", "hours_per_100k_iterations", "efficiency"}) {
    columns.push_back({key, [key](const Json& r) { return number_text(r.at(key), 4); }});
  }
  return columns;
}

}  // namespace thinwire::report
