#include "sim/app/report/tables/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/app/studies/validate/known_algorithms.hpp"

namespace thinwire::report {

namespace {

constexpr const char* kPredictionSchema = "prediction/1";
constexpr double kBytesOfWord = 4;

/// The rate of the bus as nccl-tests counts it; null of a ping-pong.
Json bus_rate(const studies::PredictedRow& predicted) {
  const std::string& collective = predicted.row.collective;
  if (!predicted.seconds || collective == "ping_pong") return {};
  const double ranks = predicted.ranks;
  const double share = (collective == "allreduce" ? 2 : 1) * (ranks - 1) / ranks;
  return share * kBytesOfWord * static_cast<double>(predicted.row.elements) / *predicted.seconds;
}

}  // namespace

std::string fitted_text(const studies::FittedVariable& variable) {
  if (variable.unit == "s") return seconds_text(variable.value);
  if (variable.unit == "B/s") return text_of_value("rate_Bps", variable.value);
  return fmt::format("{:.3g} {}", variable.value, variable.unit);
}

std::vector<Json> prediction_records(const std::vector<studies::PredictedRow>& predicted,
                                     double factor) {
  std::vector<Json> records;
  for (const studies::PredictedRow& one : predicted) {
    const auto times = [&](double of) { return one.seconds ? Json(of * *one.seconds) : Json(); };
    records.push_back(
        {{"schema", kPredictionSchema},
         {"kind", one.seconds ? "prediction" : "skipped"},
         {"collective", one.row.collective},
         {"library", one.row.library},
         {"algorithm",
          one.row.algorithm.empty() ? studies::scheme_of(one.row).scheme : one.row.algorithm},
         {"nodes", one.row.nodes},
         {"ranks", one.ranks},
         {"size_bytes", static_cast<std::int64_t>(kBytesOfWord) * one.row.elements},
         {"measured_nodes", one.measured_nodes},
         {"measured_s", one.row.seconds},
         {"time_s", times(1)},
         {"low_s", times(1 / factor)},
         {"high_s", times(factor)},
         {"busbw_Bps", bus_rate(one)},
         {"way", one.way},
         {"simulated_nodes", one.simulated_nodes > 0 ? Json(one.simulated_nodes) : Json()},
         {"reason", one.why}});
  }
  return records;
}

std::string prediction_text(const std::vector<Json>& records, const View& view) {
  std::string text;
  const std::vector<Json> shown = of_kind(records, "prediction");
  if (!shown.empty()) {
    std::vector<Column> columns{
        column("collective"),
        column("algorithm"),
        column("size_bytes"),
        column("measured_s", fmt::format("on_{}", shown.front().at("measured_nodes").dump())),
        column("time_s", fmt::format("on_{}", shown.front().at("nodes").dump())),
        interval("90%", "low_s", "high_s"),
        column("busbw_Bps", {}, Shown::if_room),
        column("way", {}, Shown::if_room)};
    const bool any = std::ranges::any_of(
        shown, [](const Json& record) { return !record.at("simulated_nodes").is_null(); });
    if (any) columns.push_back(column("simulated_nodes", {}, Shown::if_room));
    text += to_table(shown, columns, view);
  }
  const std::vector<Json> skipped = of_kind(records, "skipped");
  if (!skipped.empty()) {
    text += fmt::format("{}Skipped\n{}", text.empty() ? "" : "\n",
                        to_table(skipped,
                                 {column("collective"), column("algorithm"), column("size_bytes"),
                                  column("reason")},
                                 view));
  }
  return text;
}

}  // namespace thinwire::report
