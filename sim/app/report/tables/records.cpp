#include "sim/app/report/tables/records.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "algorithms/registry.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/settings.hpp"

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
  using plan::SettingKind;
  const plan::Point& point = row.point;
  const bool has_clock = plan::find_network(point.network).has_clock;
  const algorithms::SchemeInfo& scheme = algorithms::find_scheme(point.scheme);
  const bool dense = scheme.dense;
  const auto n = static_cast<double>(point.space.components);
  const auto [low, high] = comparison.cost.run();

  // Rows without a result or without a selection take no value from these.
  const results::Outcome none;
  const results::Outcome& o = row.outcome ? *row.outcome : none;
  const results::SelectionSummary s = o.selection.value_or(results::SelectionSummary{});
  const auto if_run = [&](auto value) { return row.outcome ? Json(value) : Json(); };
  const auto if_selected = [&](auto value) { return o.selection ? Json(value) : Json(); };
  const auto if_padded = [&](const auto& of) {
    return of && o.selection ? Json(of(point.ranks, s.most, s.total)) : Json();
  };
  const auto if_clock = [&](double seconds) {
    return has_clock && comparison.machine_known ? Json(seconds) : Json();
  };
  const auto if_compared = [&](double value) {
    return row.outcome && comparison.comparable() ? Json(value) : Json();
  };
  const auto seconds_if_any = [&](std::optional<Seconds> time) {
    return has_clock && time ? Json(time->value()) : Json();
  };
  const std::optional<double> bandwidth = algorithm_bandwidth(row);
  const bool judged = comparison.comparable() || comparison.verdict == results::Verdict::selection;
  Json record = {{"schema", "comparison/2"}};
  // Settings at the top level of a config come first, then those in groups: options.tau, ...
  for (const bool in_groups : {false, true}) {
    for (const plan::Setting& setting : plan::point_settings()) {
      const bool options = setting.kind == SettingKind::options;
      const bool listed = setting.group() != "record" && setting.kind != SettingKind::integers;
      if (!setting.get || !listed || in_groups != (options || !setting.group().empty())) continue;
      const std::optional<Json> value = setting.get(point);
      if (!value) continue;
      if (options) {
        for (const auto& item : value->items()) record["options." + item.key()] = item.value();
      } else if (setting.path == "iterations") {
        record["iteration"] = row.outcome ? Json(row.outcome->iteration) : *value;
      } else {
        record[setting.path] = *value;
      }
      if (setting.path == "components") record["size_bytes"] = dense_bytes(point);
      if (setting.path == "k") {
        record["density"] = dense ? Json() : Json(static_cast<double>(point.k) / n);
      }
    }
  }
  if (point.platform.empty()) record["platform"] = record["placement"] = nullptr;
  if (dense) record["k"] = nullptr;
  // The machine of the formulas; on a platform it is known once the point has run.
  record["machine.alpha_s"] = if_run(o.machine.alpha.value());
  record["machine.beta_s_per_word"] = if_run(o.machine.beta_per_word.value());
  if (!point.workload.model.empty()) {
    const Json training = row.outcome ? to_json(row).at("result").at("training") : Json();
    for (const char* key :
         {"time_s", "computation_s", "sparsification_s", "communication_s", "samples_per_s"}) {
      record[std::string("training.") + key] = training.is_null() ? Json() : training.at(key);
    }
  }
  record.update(Json{
      {"status", to_json(row).at("status")},
      {"reason", row.reason.empty() ? Json() : Json(row.reason)},
      {"time_s", row.outcome && has_clock ? Json(row.outcome->time().value()) : Json()},
      {"time_mean_s", row.outcome && has_clock ? Json(row.outcome->mean_time().value()) : Json()},
      {"time_steady_s", seconds_if_any(o.steady_time())},
      {"time_periodic_s", seconds_if_any(o.periodic_time())},
      {"steps", row.outcome && !has_clock ? Json(row.outcome->steps) : Json()},
      {"algbw_bytes_per_s", bandwidth ? Json(*bandwidth) : Json()},
      {"busbw_bytes_per_s",
       bandwidth ? Json(*bandwidth * bus_factor(scheme.collective_kind, point.ranks)) : Json()},
      {"formula_low_s", if_clock(comparison.formula_low)},
      {"formula_high_s", if_clock(comparison.formula_high)},
      {"ratio_low", if_compared(comparison.ratio_low())},
      {"ratio_high", if_compared(comparison.ratio_high())},
      {"verdict", judged ? name_of(comparison.verdict) : "-"},
      {"alphabeta_time_s", row.outcome && row.outcome->alphabeta_time
                               ? Json(row.outcome->alphabeta_time->value())
                               : Json()},
      {"congestion_factor", row.outcome && row.outcome->congestion_factor()
                                ? Json(*row.outcome->congestion_factor())
                                : Json()},
      {"paper_low_s", if_clock(comparison.paper_low)},
      {"paper_high_s", if_clock(comparison.paper_high)},
      {"added_low_s", if_clock(comparison.added_low)},
      {"added_high_s", if_clock(comparison.added_high)},
      {"words_sent_max", if_run(o.words_sent.max)},
      {"words_sent_mean", if_run(o.words_sent.mean)},
      {"words_received_max", if_run(o.words_received.max)},
      {"words_received_mean", if_run(o.words_received.mean)},
      {"formula_words_low", low.words},
      {"formula_words_high", high.words},
      {"messages_sent_max", if_run(o.messages_sent.max)},
      {"messages_sent_mean", if_run(o.messages_sent.mean)},
      {"messages_received_max", if_run(o.messages_received.max)},
      {"messages_received_mean", if_run(o.messages_received.mean)},
      {"formula_messages_low", low.messages},
      {"formula_messages_high", high.messages},
      {"result_components", if_run(o.result_components)},
      {"selected_min", if_selected(s.least)},
      {"selected_max", if_selected(s.most)},
      {"selected_total", if_selected(s.total)},
      {"selection_deviation", if_selected(s.deviation(point.k, scheme.selects_together))},
      {"padding_factor", if_padded(scheme.padding_factor)},
      {"padded_elements", if_padded(scheme.padded_elements)},
      {"settling_iterations", o.settling_iterations ? Json(*o.settling_iterations) : Json()},
      {"settling_cut_short", o.settling_iterations ? Json(o.settling_cut_short) : Json()},
      {"global_error", o.global_errors.empty() ? Json() : Json(o.global_errors.back())},
      {"scanned_max", if_selected(s.work.scanned)},
      {"compared_max", if_selected(s.work.compared)},
      {"sorted_max", if_selected(s.work.sorted)},
      {"hashed_max", if_selected(s.work.hashed)},
      {"sampled_max", if_selected(s.work.sampled)},
      {"prefix_summed_max", if_selected(s.work.prefix_summed)},
      {"ranks_agree", if_run(o.ranks_agree)},
      {"wall_s", row.wall_s},
      {"peak_rss_bytes", row.peak_rss_bytes},
      {"sweep", row.sweep},
      {"key", row.key},
      {"version", row.version}});
  if (o.measured) {
    record["measured_min_s"] = o.measured->time.least.value();
    record["measured_p10_s"] = o.measured->time.p10.value();
    record["measured_p90_s"] = o.measured->time.p90.value();
    const auto& beside = o.measured->library_allreduce;
    record["library_allreduce_s"] = beside ? Json(beside->median.value()) : Json();
  }
  return record;
}

}  // namespace thinwire::report
