#include "sim/app/report/tables/beside_measured.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/compare.hpp"
#include "sim/app/experiment/networks.hpp"

namespace thinwire::report {

namespace {

/// What a point computes, whatever it runs on.
std::string computation_of(const experiment::Point& point) {
  Json json = to_json(point);
  for (const char* where :
       {"network", "platform", "placement", "packets", "time_resolution_s", "flows_per_port",
        "machine", "links", "record", "iterations", "granule"}) {
    json.erase(where);
  }
  if (algorithms::find_scheme(point.scheme).dense) {
    for (const char* of_selection : {"k", "input", "seed"}) json.erase(of_selection);
  }
  return json.dump();
}

bool has_time(const experiment::Row& row) {
  return row.outcome && experiment::find_network(row.point.network).has_clock;
}

}  // namespace

std::vector<Json> beside_measured(const std::vector<experiment::Row>& rows) {
  std::vector<Json> records;
  for (const experiment::Row& real : rows) {
    if (!has_time(real) || !real.outcome->measured) continue;
    const experiment::Point& point = real.point;
    const experiment::Quartiles& measured = real.outcome->measured->time;
    const bool dense = algorithms::find_scheme(point.scheme).dense;
    const double median = measured.median.value();
    Json record{{"schema", "beside_measured/1"},
                {"scheme", point.scheme},
                {"ranks", point.ranks},
                {"components", point.space.components},
                {"k", dense ? Json() : Json(point.k)},
                {"measured_s", median},
                {"measured_min_s", measured.least.value()},
                {"measured_p90_s", measured.p90.value()}};
    for (const char* key :
         {"network", "platform", "simulated_s", "simulated_over_measured", "formula_low_s",
          "formula_high_s", "formula_low_over_measured", "formula_high_over_measured"}) {
      record[key] = nullptr;
    }
    bool found = false;
    for (const experiment::Row& other : rows) {
      if (!has_time(other) || other.outcome->measured ||
          computation_of(other.point) != computation_of(point)) {
        continue;
      }
      found = true;
      const experiment::Comparison comparison = compare(other, 0);
      Json one = record;
      const double simulated = other.outcome->time().value();
      one["network"] = other.point.network;
      if (!other.point.platform.empty()) one["platform"] = other.point.platform;
      one["simulated_s"] = simulated;
      one["simulated_over_measured"] = simulated / median;
      one["formula_low_s"] = comparison.formula_low;
      one["formula_high_s"] = comparison.formula_high;
      one["formula_low_over_measured"] = comparison.formula_low / median;
      one["formula_high_over_measured"] = comparison.formula_high / median;
      records.push_back(std::move(one));
    }
    if (!found) records.push_back(std::move(record));
  }
  return records;
}

std::vector<Column> beside_measured_columns() {
  const auto interval = [](const char* heading, const char* low, const char* high) {
    return Column{heading, [low, high](const Json& record) {
                    return record.at(low).is_null()
                               ? std::string("-")
                               : interval_text(record.at(low), record.at(high), 4);
                  }};
  };
  return {text_column("scheme", "scheme"),
          number_column("P", "ranks"),
          number_column("n", "components"),
          number_column("k", "k"),
          number_column("measured_s", "measured_s"),
          number_column("min_s", "measured_min_s"),
          number_column("p90_s", "measured_p90_s"),
          text_column("network", "network"),
          text_column("platform", "platform"),
          number_column("simulated_s", "simulated_s"),
          number_column("simulated/measured", "simulated_over_measured"),
          interval("formula_s", "formula_low_s", "formula_high_s"),
          interval("formula/measured", "formula_low_over_measured", "formula_high_over_measured")};
}

}  // namespace thinwire::report
