// The cost models of all schemes as tables: the papers' formulas, and what they come to.
#pragma once

#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/experiment/config.hpp"

namespace thinwire::report {

/// Where formulas are evaluated.
struct CostPoint {
  int ranks = 64;
  std::int64_t n = 133'547'324;  ///< BERT
  std::int64_t k = 1'335'473;
};

/// "[low, high]" of the words in β.
[[nodiscard]] std::string bandwidth_text(const algorithms::PaperCost& paper);

/// One record a scheme: the paper's formulas, and the messages and words of a run by them, from
/// the scheme's cost model at `point` in an iteration that only reuses what others computed.
[[nodiscard]] std::vector<Json> cost_records(const CostPoint& point);

/// docs/cost-models.md.
[[nodiscard]] std::string cost_models_markdown();

}  // namespace thinwire::report
