#include "sim/app/report/tables/validation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace thinwire::report {

namespace {

constexpr const char* kSchema = "validation/1";

Json row_record(const studies::Validation& validation, const studies::ValidatedRow& row) {
  const studies::MeasuredRow& measured = row.measured;
  const auto error = [&](const std::optional<double>& predicted) {
    return predicted ? Json(studies::signed_error(measured.seconds, *predicted)) : Json();
  };
  const auto positive = [](std::int64_t value) { return value > 0 ? Json(value) : Json(); };
  return {{"schema", kSchema},
          {"kind", "row"},
          {"machine", validation.machines[row.machine].name},
          {"run", measured.run},
          {"test", measured.test},
          {"gpu", measured.gpu},
          {"collective", measured.collective},
          {"library", measured.library},
          {"algorithm", measured.algorithm},
          {"scheme", row.scheme},
          {"ranks", row.ranks},
          {"nodes", measured.nodes},
          {"tasks_per_node", measured.tasks_per_node},
          {"segment", positive(measured.segment)},
          {"elements", measured.elements},
          {"k", positive(measured.selected())},
          {"measured_s", measured.seconds},
          {"simulated_s", optional_json(row.simulated)},
          {"error", error(row.simulated)},
          {"formula_s", optional_json(row.plain)},
          {"formula_error", error(row.plain)},
          {"basis", studies::name_of(row.basis)},
          {"source", measured.place}};
}

std::vector<Json> skipped_records(const std::vector<studies::SkippedRow>& skipped) {
  std::vector<Json> records;
  std::map<std::string, std::size_t> known;
  for (const studies::SkippedRow& row : skipped) {
    const studies::MeasuredRow& measured = row.measured;
    const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", measured.machine, measured.collective,
                                        measured.library, measured.algorithm, row.why);
    const auto [found, added] = known.try_emplace(key, records.size());
    if (added) {
      records.push_back({{"schema", kSchema},
                         {"kind", "skipped"},
                         {"machine", measured.machine},
                         {"collective", measured.collective},
                         {"library", measured.library},
                         {"algorithm", measured.algorithm},
                         {"rows", 0},
                         {"reason", row.why},
                         {"source", measured.place}});
    }
    Json& rows = records[found->second]["rows"];
    rows = rows.get<int>() + 1;
  }
  return records;
}

Json probe_record(const studies::MachineDescription& machine, const std::string& run,
                  const studies::ProbedRun& probed) {
  return {{"schema", kSchema},
          {"kind", "probe"},
          {"machine", machine.name},
          {"gpu", machine.gpu},
          {"run", run},
          {"rows", probed.places.size()},
          {"setting", machine.probed},
          {"value", probed.value},
          {"rms", probed.rms}};
}

Json formula_record(const studies::MachineDescription& machine,
                    const studies::FittedFormula& formula) {
  return {{"schema", kSchema},
          {"kind", "formula"},
          {"machine", machine.name},
          {"gpu", machine.gpu},
          {"rows", formula.rows},
          {"alpha_s", formula.machine.alpha.value()},
          {"beta_s_per_word", formula.machine.beta_per_word.value()},
          {"gamma_s_per_word", formula.machine.gamma_per_word.value()}};
}

Json summary_record(const studies::Validation& validation,
                    const studies::AccuracySummary& summary) {
  const studies::ChoiceFigures& choices = summary.choices;
  const auto share = [](std::size_t part, std::size_t of) {
    return of > 0 ? Json(static_cast<double>(part) / static_cast<double>(of)) : Json();
  };
  const auto regret = [&](double value) { return choices.choices > 0 ? Json(value) : Json(); };
  return {{"schema", kSchema},
          {"kind", "summary"},
          {"machine", validation.machines[summary.machine].name},
          {"gpu", validation.machines[summary.machine].gpu},
          {"basis", studies::name_of(summary.basis)},
          {"collective", summary.collective},
          {"predictor", studies::name_of(summary.predictor)},
          {"rows", summary.errors.rows},
          {"median_error", summary.errors.median},
          {"p90_error", summary.errors.p90},
          {"bias", summary.errors.bias},
          {"pairs", choices.pairs},
          {"pairs_right", share(choices.right, choices.pairs)},
          {"choices", choices.choices},
          {"mean_regret", regret(choices.mean_regret)},
          {"worst_regret", regret(choices.worst_regret)}};
}

/// "23%", "+5%" with a sign, "-" for null.
Column share_column(const char* heading, const char* key, bool sign = false) {
  return {heading, [key, sign](const Json& record) {
            const Json& value = record.at(key);
            if (value.is_null()) return std::string("-");
            const double percent = std::round(100 * value.get<double>()) + 0.0;  // no -0
            return sign ? fmt::format("{:+.0f}%", percent) : fmt::format("{:.0f}%", percent);
          }};
}

}  // namespace

std::vector<Json> validation_records(const studies::Validation& validation) {
  std::vector<Json> records;
  for (const studies::ValidatedRow& row : validation.rows) {
    records.push_back(row_record(validation, row));
  }
  for (Json& record : skipped_records(validation.skipped)) records.push_back(std::move(record));
  for (const studies::MachineDescription& machine : validation.machines) {
    for (const auto& [run, probed] : machine.of_runs) {
      records.push_back(probe_record(machine, run, probed));
    }
  }
  for (std::size_t i = 0; i < validation.machines.size(); ++i) {
    if (!validation.formulas[i]) continue;
    records.push_back(formula_record(validation.machines[i], *validation.formulas[i]));
  }
  for (const studies::AccuracySummary& summary : studies::summaries_of(validation)) {
    records.push_back(summary_record(validation, summary));
  }
  return records;
}

std::string validation_text(const std::vector<Json>& records, const View& view) {
  std::string text;
  const auto add = [&](const char* heading, const char* kind, const std::vector<Column>& columns) {
    const std::vector<Json> own = of_kind(records, kind);
    if (own.empty()) return;
    text +=
        fmt::format("{}{}\n{}", text.empty() ? "" : "\n", heading, to_table(own, columns, view));
  };
  std::vector<Column> of_rows{column("machine"),   column("run"),    column("collective"),
                              column("algorithm"), column("scheme"), column("ranks"),
                              column("elements")};
  for (const char* key : {"segment", "k"}) {  // few measurements have them
    const bool any = std::ranges::any_of(
        records, [&](const Json& r) { return r.contains(key) && !r.at(key).is_null(); });
    if (any) of_rows.push_back(column(key));
  }
  std::ranges::copy(
      std::vector<Column>{column("measured_s"), column("simulated_s"),
                          share_column("error", "error", true), column("formula_s"),
                          share_column("error", "formula_error", true), column("basis")},
      std::back_inserter(of_rows));
  add("Rows", "row", of_rows);
  add("Skipped", "skipped",
      {column("machine"), column("collective"), column("library"), column("algorithm"),
       column("rows"), column("reason")});
  add("Probed in each run", "probe",
      {column("machine"), column("run"), column("rows"), column("setting"), column("value"),
       column("rms")});
  add("Plain formulas", "formula",
      {column("machine"), column("gpu"), column("rows"), column("alpha_s"),
       column("beta_s_per_word"), column("gamma_s_per_word")});
  add("Errors as ratios, and choices among algorithms", "summary",
      {column("machine"), column("gpu"), column("basis"), column("collective"), column("predictor"),
       column("rows"), share_column("median", "median_error"), share_column("p90", "p90_error"),
       share_column("bias", "bias", true), column("pairs"), share_column("right", "pairs_right"),
       column("choices"), share_column("regret", "mean_regret"),
       share_column("worst", "worst_regret")});
  return text;
}

}  // namespace thinwire::report
