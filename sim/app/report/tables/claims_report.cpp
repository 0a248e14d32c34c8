#include "sim/app/report/tables/claims_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace thinwire::report {

namespace {

std::string share(const std::string& what, studies::ClaimCounts counts) {
  if (counts.of == 0) return {};
  return fmt::format("{}: {} of {} hold ({:.0f}%)\n", what, counts.hold, counts.of,
                     100.0 * counts.hold / counts.of);
}

}  // namespace

std::vector<Json> claim_records(const std::vector<studies::Finding>& findings) {
  std::vector<Json> records;
  for (const studies::Finding& finding : findings) {
    records.push_back({{"schema", "claims/1"},
                       {"claim", finding.claim},
                       {"what", finding.what},
                       {"source", finding.source},
                       {"kind", name_of(finding.kind)},
                       {"basis", name_of(finding.basis)},
                       {"paper", optional_json(finding.paper)},
                       {"simulated", optional_json(finding.simulated)},
                       {"ratio", optional_json(finding.ratio())},
                       {"verdict", name_of(finding.verdict)},
                       {"note", finding.note}});
  }
  return records;
}

std::string claims_text(const std::vector<studies::Finding>& findings) {
  const auto number = [](const char* key) {
    return Column{key, [key](const Json& r) { return number_text(r.at(key), 4); }};
  };
  std::string text =
      to_table(claim_records(findings),
               {text_column("claim", "claim"), text_column("what", "what"), number("paper"),
                number("simulated"), number("ratio"), text_column("basis", "basis"),
                text_column("verdict", "verdict"), text_column("note", "note")});
  text += '\n';
  text += share(fmt::format("predicted numbers, within {:.0f}%", 100 * studies::kClaimTolerance),
                count(findings, studies::FindingKind::number, studies::Basis::predicted));
  text += share("predicted bounds",
                count(findings, studies::FindingKind::at_most, studies::Basis::predicted));
  text += share("predicted orderings",
                count(findings, studies::FindingKind::order, studies::Basis::predicted));
  text += share("formulas' numbers",
                count(findings, studies::FindingKind::number, studies::Basis::formula));
  text += share("formulas' statements",
                count(findings, studies::FindingKind::order, studies::Basis::formula));
  text += share("calibrated numbers",
                count(findings, studies::FindingKind::number, studies::Basis::calibrated));
  return text;
}

}  // namespace thinwire::report
