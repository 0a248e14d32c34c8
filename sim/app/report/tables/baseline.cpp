#include "sim/app/report/tables/baseline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim/app/report/tables/varying.hpp"

namespace thinwire::report {

namespace {

using results::Row;

/// The new value over the old one: 1 if both are 0, nothing if only the old one is.
std::optional<double> ratio(double value, double before) {
  if (before != 0) return value / before;
  return value == 0 ? std::optional<double>(1) : std::nullopt;
}

/// What the two sides are compared by.
struct Measures {
  double cost;  ///< seconds of the reported iteration, or steps
  double mean;  ///< seconds of a mean iteration, or steps
  double words;
  double messages;
};

Measures measures_of(const Row& row) {
  const results::Outcome& outcome = *row.outcome;
  const auto larger = [](const results::Spread& a, const results::Spread& b) {
    return static_cast<double>(std::max(a.max, b.max));
  };
  const bool clock = row.point.network->has_clock;
  const auto steps = static_cast<double>(outcome.steps);
  return {.cost = clock ? outcome.time().value() : steps,
          .mean = clock ? outcome.mean_time().value() : steps,
          .words = larger(outcome.words_sent, outcome.words_received),
          .messages = larger(outcome.messages_sent, outcome.messages_received)};
}

/// Sets the ratios and the change of a point with results on both sides.
void compare_results(Json& record, const Measures& now, const Measures& before, double tolerance) {
  const auto near = [&](std::optional<double> one) {
    return one && std::abs(*one - 1) <= tolerance;
  };
  const std::optional<double> cost = ratio(now.cost, before.cost);
  const std::optional<double> mean = ratio(now.mean, before.mean);
  const std::optional<double> words = ratio(now.words, before.words);
  const std::optional<double> messages = ratio(now.messages, before.messages);
  record["time_ratio"] = optional_json(cost);
  record["time_mean_ratio"] = optional_json(mean);
  record["words_ratio"] = optional_json(words);
  record["messages_ratio"] = optional_json(messages);
  if (!near(cost)) {
    record["change"] = now.cost < before.cost ? "faster" : "slower";
  } else if (!near(mean)) {
    record["change"] = now.mean < before.mean ? "faster" : "slower";
  } else {
    record["change"] = near(words) && near(messages) ? "same" : "traffic";
  }
}

void add_side(Json& record, const Row* row, const std::string& prefix) {
  for (const char* key : {"time_s", "time_mean_s", "steps", "version"}) {
    record[prefix + key] = nullptr;
  }
  if (row == nullptr) return;
  record[prefix + "version"] = row->version;
  if (!row->outcome) return;
  if (row->point.network->has_clock) {
    record[prefix + "time_s"] = row->outcome->time().value();
    record[prefix + "time_mean_s"] = row->outcome->mean_time().value();
  } else {
    record[prefix + "steps"] = row->outcome->steps;
  }
}

/// At least one of both sides is there.
Json record_for(const Row* row, const Row* before, double tolerance) {
  const plan::Point& point = (row == nullptr ? before : row)->point;
  const bool dense = point.scheme->dense;
  Json record{{"schema", "baseline/1"},
              {"scheme", point.scheme->name},
              {"network", point.network->name},
              {"platform", point.platform.empty() ? Json() : Json(point.platform)},
              {"ranks", point.ranks},
              {"components", point.space.components},
              {"k", dense ? Json() : Json(point.k)},
              {"time_ratio", nullptr},
              {"time_mean_ratio", nullptr},
              {"words_ratio", nullptr},
              {"messages_ratio", nullptr},
              {"settings", flat_settings(point)}};
  add_side(record, row, "");
  add_side(record, before, "baseline_");
  const bool has_now = row != nullptr && row->outcome;
  const bool had = before != nullptr && before->outcome;
  if (row == nullptr) {
    record["change"] = "missing";
  } else if (before == nullptr && has_now) {
    record["change"] = "new";
  } else if (has_now && had) {
    compare_results(record, measures_of(*row), measures_of(*before), tolerance);
  } else {
    record["change"] = had ? "failed" : has_now ? "mended" : "no result";
  }
  return record;
}

std::map<std::string, const Row*> by_point(const std::vector<Row>& rows) {
  std::map<std::string, const Row*> found;
  for (const Row& row : rows) found[what_is_read(row.point)] = &row;
  return found;
}

}  // namespace

std::vector<Json> baseline_records(const std::vector<Row>& rows, const std::vector<Row>& baseline,
                                   double tolerance) {
  const std::map<std::string, const Row*> now = by_point(rows);
  const std::map<std::string, const Row*> before = by_point(baseline);
  const auto find = [](const std::map<std::string, const Row*>& all, const std::string& point) {
    const auto found = all.find(point);
    return found == all.end() ? nullptr : found->second;
  };
  std::vector<Json> records;
  std::set<std::string> done;
  for (const std::vector<Row>* side : {&rows, &baseline}) {
    for (const Row& row : *side) {
      const std::string point = what_is_read(row.point);
      if (!done.insert(point).second) continue;
      records.push_back(record_for(find(now, point), find(before, point), tolerance));
    }
  }
  return records;
}

std::vector<Column> baseline_columns(const std::vector<Json>& records) {
  std::vector<Json> settings;
  bool steps = false;
  for (const Json& record : records) {
    settings.push_back(record.at("settings"));
    steps = steps || !record.at("steps").is_null() || !record.at("baseline_steps").is_null();
  }
  std::vector<Column> columns;
  add_columns(columns, {"scheme"});
  for (const std::string& key : varying_settings(settings)) {
    if (key != "scheme" && key != "ranks") columns.push_back(setting_column(key));
  }
  add_columns(columns, {"ranks", "baseline_time_s", "time_s"});
  if (steps) add_columns(columns, {"baseline_steps", "steps"});
  add_columns(columns, {"time_ratio"});
  add_columns(columns, {"time_mean_ratio", "words_ratio", "messages_ratio"}, Shown::if_room);
  add_columns(columns, {"change"});
  return columns;
}

bool passes_gate(const Json& record) {
  const std::string change = record.at("change").get<std::string>();
  return change == "same" || change == "new" || change == "mended";
}

}  // namespace thinwire::report
