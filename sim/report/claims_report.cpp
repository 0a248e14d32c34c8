#include "sim/report/claims_report.hpp"

#include <fmt/format.h>

namespace thinwire {

namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Column text_column(const std::string& heading, const std::string& key) {
  return {heading, [key](const Json& r) { return r.at(key).get<std::string>(); }, true};
}

std::string share(const std::string& what, ClaimCounts counts) {
  if (counts.of == 0) return {};
  return fmt::format("{}: {} of {} hold ({:.0f}%)\n", what, counts.hold, counts.of,
                     100.0 * counts.hold / counts.of);
}

}  // namespace

std::vector<Json> claim_records(const std::vector<Finding>& findings) {
  std::vector<Json> records;
  for (const Finding& finding : findings) {
    records.push_back({{"schema", "claims/1"},
                       {"claim", finding.claim},
                       {"what", finding.what},
                       {"source", finding.source},
                       {"kind", name_of(finding.kind)},
                       {"basis", name_of(finding.basis)},
                       {"paper", or_null(finding.paper)},
                       {"simulated", or_null(finding.simulated)},
                       {"ratio", or_null(finding.ratio())},
                       {"verdict", name_of(finding.verdict)},
                       {"note", finding.note}});
  }
  return records;
}

std::string claims_text(const std::vector<Finding>& findings) {
  const auto number = [](const char* key) {
    return Column{key, [key](const Json& r) { return number_text(r.at(key), 4); }};
  };
  std::string text =
      to_table(claim_records(findings),
               {text_column("claim", "claim"), text_column("what", "what"), number("paper"),
                number("simulated"), number("ratio"), text_column("basis", "basis"),
                text_column("verdict", "verdict"), text_column("note", "note")});
  text += '\n';
  text += share(fmt::format("predicted numbers, within {:.0f}%", 100 * kClaimTolerance),
                count(findings, FindingKind::number, Basis::predicted));
  text += share("predicted bounds", count(findings, FindingKind::at_most, Basis::predicted));
  text += share("predicted orderings", count(findings, FindingKind::order, Basis::predicted));
  text += share("formulas' numbers", count(findings, FindingKind::number, Basis::formula));
  text += share("formulas' statements", count(findings, FindingKind::order, Basis::formula));
  text += share("calibrated numbers", count(findings, FindingKind::number, Basis::calibrated));
  return text;
}

}  // namespace thinwire
