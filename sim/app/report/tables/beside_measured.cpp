#include "sim/app/report/tables/beside_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/registry.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/studies/validate/accuracy.hpp"

namespace thinwire::report {

namespace {

/// What a point computes, in however many iterations.
std::string computed_by(const plan::Point& point) {
  Json json = plan::computation_of(point);
  json.erase("iterations");
  return json.dump();
}

bool has_time(const results::Row& row) { return row.outcome && row.point.network->has_clock; }

}  // namespace

std::vector<Json> beside_measured(const std::vector<results::Row>& rows) {
  std::vector<Json> records;
  const auto is_measured = [](const results::Row& row) {
    return has_time(row) && row.outcome->measured;
  };
  if (std::ranges::none_of(rows, is_measured)) return records;
  std::multimap<std::string, const results::Row*> simulated_rows;  // by what they compute
  for (const results::Row& row : rows) {
    if (has_time(row) && !row.outcome->measured)
      simulated_rows.emplace(computed_by(row.point), &row);
  }
  for (const results::Row& real : rows) {
    if (!has_time(real) || !real.outcome->measured) continue;
    const plan::Point& point = real.point;
    const results::Quartiles& measured = real.outcome->measured->time;
    const bool dense = point.scheme->dense;
    const double median = measured.median.value();
    Json record{{"schema", "beside_measured/1"},
                {"scheme", point.scheme->name},
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
    const auto [begin, end] = simulated_rows.equal_range(computed_by(point));
    for (auto at = begin; at != end; ++at) {
      const results::Row& other = *at->second;
      const results::Comparison comparison = compare(other, 0);
      Json one = record;
      const double simulated = other.outcome->time().value();
      one["network"] = other.point.network->name;
      if (!other.point.platform.empty()) one["platform"] = other.point.platform;
      one["simulated_s"] = simulated;
      one["simulated_over_measured"] = simulated / median;
      one["formula_low_s"] = comparison.formula_low;
      one["formula_high_s"] = comparison.formula_high;
      one["formula_low_over_measured"] = comparison.formula_low / median;
      one["formula_high_over_measured"] = comparison.formula_high / median;
      records.push_back(std::move(one));
    }
    if (begin == end) records.push_back(std::move(record));
  }
  return records;
}

std::vector<Json> measured_curves(const std::vector<results::Row>& rows) {
  std::vector<Json> curves;
  for (const Json& record : beside_measured(rows)) {
    if (record.at("simulated_s").is_null()) continue;
    const double measured = record.at("measured_s").get<double>();
    const double simulated = record.at("simulated_s").get<double>();
    if (!(measured > 0) || !(simulated > 0)) continue;
    const auto scheme = record.at("scheme").get<std::string>();
    const algorithms::SchemeInfo& info = algorithms::find_scheme(scheme);
    const auto n = record.at("components").get<double>();
    const Json& platform = record.at("platform");
    const std::string place = platform.is_null()
                                  ? record.at("network").get<std::string>()
                                  : fmt::format("{}, {}", record.at("network").get<std::string>(),
                                                platform.get<std::string>());
    const int ranks = record.at("ranks").get<int>();
    curves.push_back(
        {{"kind", "row"},
         {"panel", fmt::format("{}, {}, {} ranks", place, name_of(info.collective_kind), ranks)},
         {"algorithm", info.dense
                           ? scheme
                           : fmt::format("{} d={:.3g}", scheme, record.at("k").get<double>() / n)},
         {"elements", record.at("components")},
         {"ranks", ranks},
         {"measured_s", measured},
         {"simulated_s", simulated},
         {"error", studies::signed_error(measured, simulated)}});
  }
  return curves;
}

std::vector<Column> beside_measured_columns() {
  std::vector<Column> columns;
  add_columns(columns, {"scheme", "ranks"});
  add_columns(columns, {"components", "k"}, Shown::if_room);
  add_columns(columns, {"measured_s"});
  add_columns(columns, {"measured_min_s", "measured_p90_s"}, Shown::if_wide);
  add_columns(columns, {"network"});
  add_columns(columns, {"platform"}, Shown::if_room);
  add_columns(columns, {"simulated_s", "simulated_over_measured"});
  columns.push_back(interval("formula", "formula_low_s", "formula_high_s", Shown::if_wide));
  columns.push_back(interval("formula_over_measured", "formula_low_over_measured",
                             "formula_high_over_measured", Shown::if_wide));
  return columns;
}

}  // namespace thinwire::report
