#include "sim/app/report/tables/training.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "sim/app/report/tables/varying.hpp"

namespace thinwire::report {

namespace {

/// The description of a point except for its ranks.
std::string group_of(const plan::Point& point) {
  Json json = to_json(point);
  json.erase("ranks");
  return json.dump();
}

Json record_of(const results::Row& row, const results::Row& smallest) {
  const plan::Point& point = row.point;
  Json record = {{"model", point.workload.model},
                 {"device", point.workload.device},
                 {"scheme", point.scheme->name},
                 {"network", point.network->name},
                 {"platform", point.platform.empty() ? Json() : Json(point.platform)},
                 {"ranks", point.ranks},
                 {"settings", flat_settings(point)}};
  for (const char* key : {"iteration_s", "computation_s", "sparsification_s", "communication_s",
                          "samples_per_s", "hours_per_100k_iterations", "efficiency"}) {
    record[key] = nullptr;
  }
  if (!row.outcome) return record;
  const results::TrainingOutcome& training = *row.outcome->training;
  const double time = training.mean.total().value();
  record["iteration_s"] = time;
  record["computation_s"] = training.mean.computation.value();
  record["sparsification_s"] = training.mean.sparsification.value();
  record["communication_s"] = training.mean.communication.value();
  if (point.sums_activations()) record["tensor_parallel_s"] = training.mean.tensor_parallel.value();
  record["samples_per_s"] = training.samples_per_s;
  record["hours_per_100k_iterations"] = time * kReportedIterations / 3600;
  if (smallest.outcome && time > 0) {
    record["efficiency"] = smallest.outcome->training->mean.total().value() / time;
  }
  return record;
}

/// The settings that differ between the rows of one model on one device, apart from those that have
/// a column of their own; a model brings its own gradient and batch.
std::vector<std::string> varying_in(const std::vector<Json>& records) {
  static const std::set<std::string> kOwnColumns{"scheme", "network", "platform", "ranks"};
  std::map<std::string, std::vector<Json>> trainings;
  for (const Json& record : records) {
    trainings[record.at("model").dump() + record.at("device").dump()].push_back(
        record.at("settings"));
  }
  std::vector<std::string> varying;
  for (const auto& training : trainings) {
    const std::vector<std::string> own = varying_settings(training.second);
    const bool density = std::ranges::find(own, "density") != own.end();
    for (const std::string& path : own) {
      if (kOwnColumns.contains(path) || (density && path == "k")) continue;
      if (std::ranges::find(varying, path) == varying.end()) varying.push_back(path);
    }
  }
  return varying;
}

}  // namespace

std::vector<Json> training_records(const std::vector<results::Row>& rows) {
  std::map<std::string, const results::Row*> smallest;
  for (const results::Row& row : rows) {
    if (row.point.workload.model.empty() || !row.outcome) continue;
    const results::Row*& best = smallest[group_of(row.point)];
    if (best == nullptr || row.point.ranks < best->point.ranks) best = &row;
  }
  std::vector<Json> records;
  for (const results::Row& row : rows) {
    if (row.point.workload.model.empty()) continue;
    const auto found = smallest.find(group_of(row.point));
    records.push_back(record_of(row, found == smallest.end() ? row : *found->second));
  }
  return records;
}

std::vector<Column> training_columns(const std::vector<Json>& records) {
  std::vector<Column> columns;
  add_texts(columns, {"model", "device", "scheme", "network", "platform"});
  for (const std::string& path : varying_in(records)) columns.push_back(setting_column(path));
  const bool groups =
      std::ranges::any_of(records, [](const Json& r) { return r.contains("tensor_parallel_s"); });
  add_numbers(columns, {"ranks", "iteration_s", "computation_s", "sparsification_s"}, 4);
  if (groups) {
    columns.push_back({"tensor_parallel_s", [](const Json& r) {
                         return number_text(r.value("tensor_parallel_s", Json()), 4);
                       }});
  }
  add_numbers(columns,
              {"communication_s", "samples_per_s", "hours_per_100k_iterations", "efficiency"}, 4);
  return columns;
}

}  // namespace thinwire::report
