// The cost models of all schemes as tables: the papers' formulas, and their values.
#pragma once

#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/config.hpp"

namespace thinwire::report {

/// The point at which formulas are evaluated.
struct CostPoint {
  int ranks = 64;
  std::int64_t n = 133'547'324;  ///< BERT
  std::int64_t k = 1'335'473;
};

/// "[low, high]", or the one that both are; an empty `high` is as `low`.
[[nodiscard]] std::string interval_of(const std::string& low, const std::string& high);
/// The paper's number of words (the factor of β) as "[low, high]".
[[nodiscard]] std::string bandwidth_text(const algorithms::PaperCost& paper);

/// One record per scheme: the paper's formulas, and the messages and words of a run according to
/// the scheme's cost model at `point`, in an iteration that only reuses earlier decisions.
[[nodiscard]] std::vector<Json> cost_records(const CostPoint& point);

}  // namespace thinwire::report
