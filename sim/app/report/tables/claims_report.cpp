#include "sim/app/report/tables/claims_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace thinwire::report {

namespace {

std::string share(const std::string& what, studies::ClaimCounts counts) {
  if (counts.of == 0) return {};
  return fmt::format("{}: {} of {} hold ({:.0f}%)\n", what, counts.hold, counts.of,
                     100.0 * counts.hold / counts.of);
}

/// A count as its line of the text names it.
struct NamedCounts {
  std::string what;
  studies::Basis basis;
  studies::ClaimCounts counts;
};

std::vector<NamedCounts> all_counts(const std::vector<studies::Finding>& findings) {
  using studies::Basis;
  using studies::FindingKind;
  const studies::ClaimScore score = studies::score(findings);
  std::vector<NamedCounts> all{
      {fmt::format("predicted numbers, within {:.0f}%", 100 * studies::kClaimTolerance),
       Basis::predicted, score.predicted},
      {"  informative: the null model misses", Basis::predicted, score.informative},
      {fmt::format("    by a hair: its answer or ours within {:.0f}% of the border",
                   100 * studies::kBorder),
       Basis::predicted, score.at_border},
      {"  not informative: the null model holds, too", Basis::predicted, score.trivial},
      {"  no null model stated", Basis::predicted, score.without_null}};
  if (score.over_ranges.of > 0) {
    all.push_back({"  on an assumed range, at both ends", Basis::predicted, score.over_ranges});
  }
  const auto add = [&](const char* what, FindingKind kind, Basis basis) {
    all.push_back({what, basis, count(findings, kind, basis)});
  };
  studies::ClaimCounts bounds = count(findings, FindingKind::at_most, Basis::predicted);
  const studies::ClaimCounts lower = count(findings, FindingKind::at_least, Basis::predicted);
  bounds.of += lower.of;
  bounds.hold += lower.hold;
  all.push_back({"predicted bounds", Basis::predicted, bounds});
  add("predicted orderings", FindingKind::order, Basis::predicted);
  add("formulas' numbers", FindingKind::number, Basis::formula);
  add("formulas' statements", FindingKind::order, Basis::formula);
  add("calibrated numbers", FindingKind::number, Basis::calibrated);
  return all;
}

}  // namespace

std::vector<Json> claim_records(const std::vector<studies::Finding>& findings) {
  std::vector<Json> records;
  for (const studies::Finding& finding : findings) {
    const std::optional<bool> null_holds = finding.null_holds();
    records.push_back({{"schema", "claims/1"},
                       {"claim", finding.claim},
                       {"what", finding.what},
                       {"source", finding.source},
                       {"kind", name_of(finding.kind)},
                       {"basis", name_of(finding.basis)},
                       {"paper", optional_json(finding.paper)},
                       {"simulated", optional_json(finding.simulated)},
                       {"unit", finding.unit},
                       {"ratio", optional_json(finding.ratio())},
                       {"null_model", finding.null_model},
                       {"null", optional_json(finding.null_value)},
                       {"null_holds", null_holds ? Json(*null_holds) : Json()},
                       {"informative", finding.informative()},
                       {"range_low", optional_json(finding.range_low)},
                       {"range_high", optional_json(finding.range_high)},
                       {"misses_at", fmt::format("{}", fmt::join(finding.misses_at, "; "))},
                       {"verdict", name_of(finding.verdict)},
                       {"note", finding.note}});
  }
  return records;
}

std::string claims_text(const std::vector<studies::Finding>& findings, const View& view) {
  const Column paper{"paper", [](const Json& r) {
                       const std::string text = number_text(r.at("paper"), 4);
                       if (r.at("kind") == "at least") return "≥ " + text;
                       return r.at("kind") == "at most" ? "≤ " + text : text;
                     }};
  const Column null_says{
      "null_holds",
      [](const Json& r) {
        if (r.at("null_holds").is_null()) return std::string("-");
        return std::string(r.at("null_holds").get<bool>() ? "would hold" : "would miss");
      },
      Shown::if_wide};
  std::vector<Column> columns{column("claim"),
                              column("what"),
                              column("kind", {}, Shown::if_wide),
                              paper,
                              column("simulated"),
                              column("unit"),
                              column("ratio"),
                              column("basis", {}, Shown::if_room),
                              column("verdict"),
                              column("null", {}, Shown::if_wide),
                              null_says,
                              column("null_model", {}, Shown::if_wide)};
  const std::vector<Json> records = claim_records(findings);
  const bool ranges =
      std::ranges::any_of(records, [](const Json& r) { return !r.at("range_low").is_null(); });
  if (ranges) {
    columns.push_back(interval("range", "range_low", "range_high"));
    columns.push_back(column("misses_at"));
  }
  columns.push_back(column("note", {}, Shown::if_wide));
  std::string text = to_table(records, columns, view);
  text += '\n';
  for (const NamedCounts& counts : all_counts(findings)) text += share(counts.what, counts.counts);
  return text;
}

std::string calibrations_text(const std::vector<studies::Calibration>& calibrations,
                              const View& view) {
  std::vector<Json> records;
  for (const studies::Calibration& calibration : calibrations) {
    records.push_back({{"schema", "calibrations/1"},
                       {"name", calibration.name},
                       {"value", calibration.value},
                       {"unit", calibration.unit},
                       {"set_by", calibration.set_by},
                       {"check", calibration.check.empty() ? Json() : Json(calibration.check)}});
  }
  return render(
      view, records,
      {column("name"), column("value"), column("unit"), column("check"), column("set_by")});
}

std::vector<Json> claim_counts(const std::vector<studies::Finding>& findings) {
  std::vector<Json> records;
  for (const NamedCounts& named : all_counts(findings)) {
    if (named.counts.of == 0) continue;
    records.push_back({{"schema", "claims/1"},
                       {"claim", "all"},
                       {"what", named.what.substr(named.what.find_first_not_of(' '))},
                       {"source", ""},
                       {"kind", "count"},
                       {"basis", name_of(named.basis)},
                       {"of", named.counts.of},
                       {"hold", named.counts.hold},
                       {"verdict", ""}});
  }
  return records;
}

}  // namespace thinwire::report
