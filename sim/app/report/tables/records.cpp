#include "sim/app/report/tables/records.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/plan/approximate.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/results/outcome_json.hpp"

namespace thinwire::report {

namespace {

/// The size of the gradient before selection.
std::int64_t dense_bytes(const plan::Point& point) {
  return to_bytes(Words(point.space.components)).value();
}

/// Dense bytes per second; none without a time or if the time includes other work.
std::optional<double> algorithm_bandwidth(const results::Row& row) {
  if (!row.outcome || !row.point.workload.model.empty()) return std::nullopt;
  const double time = row.outcome->time().value();
  if (!(time > 0)) return std::nullopt;
  return static_cast<double>(dense_bytes(row.point)) / time;
}

/// A value of rows with a result; null in others.
template <class Value>
Json if_run(const results::Row& row, const Value& value_of) {
  return row.outcome ? Json(value_of(*row.outcome)) : Json();
}

/// Settings at the top level of a config come first, then those in groups: options.tau, ...
void add_settings(const results::Row& row, Json& record) {
  const plan::Point& point = row.point;
  const bool dense = point.scheme->dense;
  const auto add = [&](const plan::Setting& setting, const Json& value) {
    if (setting.kind == plan::SettingKind::options) {
      for (const auto& item : value.items()) record["options." + item.key()] = item.value();
    } else if (setting.path == "iterations") {
      record["iteration"] = row.outcome ? Json(row.outcome->iteration) : value;
    } else {
      record[setting.path] = value;
    }
    if (setting.path == "components") record["size_bytes"] = dense_bytes(point);
    if (setting.path == "k") {
      const auto n = static_cast<double>(point.space.components);
      record["density"] = dense ? Json() : Json(static_cast<double>(point.k) / n);
    }
  };
  for (const bool in_groups : {false, true}) {
    for (const plan::Setting& setting : plan::point_settings()) {
      const bool options = setting.kind == plan::SettingKind::options;
      const bool listed =
          setting.group() != "record" && setting.kind != plan::SettingKind::integers;
      if (!setting.get || !listed || in_groups != (options || !setting.group().empty())) continue;
      if (const std::optional<Json> value = setting.get(point)) add(setting, *value);
    }
  }
  if (point.platform.empty()) record["platform"] = record["placement"] = nullptr;
  if (dense) record["k"] = nullptr;
  // The machine of the formulas; on a platform it is known once the point has run.
  record["machine.alpha_s"] = if_run(row, [](const auto& o) { return o.machine.alpha.value(); });
  record["machine.beta_s_per_word"] =
      if_run(row, [](const auto& o) { return o.machine.beta_per_word.value(); });
}

void add_training(const results::Row& row, Json& record) {
  if (row.point.workload.model.empty()) return;
  const bool trained = row.outcome && row.outcome->training;
  const Json training = trained ? to_json(*row.outcome->training) : Json();
  for (const char* key :
       {"time_s", "computation_s", "sparsification_s", "communication_s", "samples_per_s"}) {
    record[std::string("training.") + key] = training.is_null() ? Json() : training.at(key);
  }
  if (row.point.sums_activations()) {
    record["training.tensor_parallel_s"] =
        trained ? Json(row.outcome->training->mean.tensor_parallel.value()) : Json();
  }
}

/// Times, bandwidths and what the formulas say of them.
void add_times(const results::Row& row, const results::Comparison& comparison, Json& record) {
  const plan::Point& point = row.point;
  const bool has_clock = point.network->has_clock;
  const algorithms::SchemeInfo& scheme = *point.scheme;
  const auto seconds = [&](const auto& time_of) {
    const std::optional<Seconds> time = row.outcome ? time_of(*row.outcome) : std::nullopt;
    return has_clock && time ? Json(time->value()) : Json();
  };
  const auto formula = [&](double time) {
    return has_clock && comparison.machine_known ? Json(time) : Json();
  };
  const auto ratio = [&](double value) {
    return row.outcome && comparison.comparable() ? Json(value) : Json();
  };
  using Time = std::optional<Seconds>;
  const double bus = bus_factor(scheme.collective_kind, point.data_ranks());
  const std::optional<double> bandwidth = algorithm_bandwidth(row);
  const bool judged = comparison.comparable() || comparison.verdict == results::Verdict::selection;
  const auto congestion = row.outcome ? row.outcome->congestion_factor() : std::nullopt;
  record.update(
      Json{{"time_s", seconds([](const auto& o) { return Time(o.time()); })},
           {"time_mean_s", seconds([](const auto& o) { return Time(o.mean_time()); })},
           {"time_steady_s", seconds([](const auto& o) { return o.steady_time(); })},
           {"time_periodic_s", seconds([](const auto& o) { return o.periodic_time(); })},
           {"steps", row.outcome && !has_clock ? Json(row.outcome->steps) : Json()},
           {"algbw_bytes_per_s", bandwidth ? Json(*bandwidth) : Json()},
           {"busbw_bytes_per_s", bandwidth ? Json(*bandwidth * bus) : Json()},
           {"formula_low_s", formula(comparison.formula_low)},
           {"formula_high_s", formula(comparison.formula_high)},
           {"ratio_low", ratio(comparison.ratio_low())},
           {"ratio_high", ratio(comparison.ratio_high())},
           {"verdict", judged ? name_of(comparison.verdict) : "-"},
           {"verdict_mean",
            judged && comparison.mean_verdict ? Json(name_of(*comparison.mean_verdict)) : Json()},
           {"alphabeta_time_s", seconds([](const auto& o) { return o.alphabeta_time; })},
           {"congestion_factor", congestion ? Json(*congestion) : Json()},
           {"formula_by", scheme.paper.ours ? "ours" : "paper"},
           {"paper_low_s", formula(comparison.paper_low)},
           {"paper_high_s", formula(comparison.paper_high)},
           {"added_low_s", formula(comparison.added_low)},
           {"added_high_s", formula(comparison.added_high)}});
}

void add_traffic(const results::Row& row, const results::Comparison& comparison, Json& record) {
  const auto [low, high] = comparison.cost.run();
  const auto add = [&](const std::string& name, results::Spread results::Outcome::*spread) {
    record[name + "_max"] = if_run(row, [&](const auto& o) { return (o.*spread).max; });
    record[name + "_mean"] = if_run(row, [&](const auto& o) { return (o.*spread).mean; });
  };
  add("words_sent", &results::Outcome::words_sent);
  add("words_received", &results::Outcome::words_received);
  record["formula_words_low"] = low.words;
  record["formula_words_high"] = high.words;
  add("messages_sent", &results::Outcome::messages_sent);
  add("messages_received", &results::Outcome::messages_received);
  record["formula_messages_low"] = low.messages;
  record["formula_messages_high"] = high.messages;
  record["result_components"] = if_run(row, [](const auto& o) { return o.result_components; });
}

/// What the ranks selected, with what effort; null without a selection.
void add_selection(const results::Row& row, Json& record) {
  const plan::Point& point = row.point;
  const algorithms::SchemeInfo& scheme = *point.scheme;
  const results::Outcome none;
  const results::Outcome& o = row.outcome ? *row.outcome : none;
  const results::SelectionSummary s = o.selection.value_or(results::SelectionSummary{});
  const auto if_selected = [&](auto value) { return o.selection ? Json(value) : Json(); };
  const auto if_padded = [&](const auto& of) {
    return of && o.selection ? Json(of(point.data_ranks(), s.most, s.total)) : Json();
  };
  const bool settled = o.settling_iterations.has_value();
  record.update(
      Json{{"selected_min", if_selected(s.least)},
           {"selected_max", if_selected(s.most)},
           {"selected_total", if_selected(s.total)},
           {"selection_deviation", if_selected(s.deviation(point.k, scheme.selects_together))},
           {"padding_factor", if_padded(scheme.padding_factor)},
           {"padded_elements", if_padded(scheme.padded_elements)},
           {"compressed_tensors", o.compressed_tensors ? Json(*o.compressed_tensors) : Json()},
           {"settling_iterations", settled ? Json(*o.settling_iterations) : Json()},
           {"settling_cut_short", settled ? Json(o.settling_cut_short) : Json()},
           {"global_error", o.global_errors.empty() ? Json() : Json(o.global_errors.back())}});
  if (row.outcome && point.approximate > 0) {
    record["approximation_error"] = plan::approximation_error(point, s.least != s.most);
  }
  for (const auto& [name, kind] : algorithms::kWorkKinds) {
    record[std::string(name) + "_max"] = if_selected(s.work.*kind);
  }
}

/// How the times of real processes were distributed.
void add_measured(const results::Row& row, Json& record) {
  if (!row.outcome || !row.outcome->measured) return;
  const results::Measured& measured = *row.outcome->measured;
  record["measured_min_s"] = measured.time.least.value();
  record["measured_p10_s"] = measured.time.p10.value();
  record["measured_p90_s"] = measured.time.p90.value();
  const auto& beside = measured.library_allreduce;
  record["library_allreduce_s"] = beside ? Json(beside->median.value()) : Json();
}

}  // namespace

bool selects_far_from_k(const Json& record) {
  if (record.contains("far_from_k")) {
    return record.at("ok") > 0 && record.at("far_from_k") == record.at("ok");
  }
  return record.value("verdict", "") == name_of(results::Verdict::selection);
}

double bus_factor(algorithms::Collective collective, int ranks) {
  if (collective == algorithms::Collective::ping_pong) return ranks > 1 ? 2 : 0;
  const double passes = collective == algorithms::Collective::allreduce ? 2 : 1;
  return passes * (ranks - 1) / ranks;
}

Json record_of(const results::Row& row, const results::Comparison& comparison) {
  Json record = {{"schema", "comparison/2"}};
  add_settings(row, record);
  add_training(row, record);
  record["status"] = name_of(row.status);
  record["reason"] = row.reason.empty() ? Json() : Json(row.reason);
  add_times(row, comparison, record);
  add_traffic(row, comparison, record);
  add_selection(row, record);
  record["ranks_agree"] = row.outcome ? Json(row.outcome->ranks_agree) : Json();
  record["wall_s"] = row.wall_s;
  record["peak_rss_bytes"] = row.peak_rss_bytes;
  record["sweep"] = row.sweep;
  record["key"] = row.key;
  record["version"] = row.version;
  add_measured(row, record);
  return record;
}

}  // namespace thinwire::report
