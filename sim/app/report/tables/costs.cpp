#include "sim/app/report/tables/costs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

std::string interval_of(const std::string& low, const std::string& high) {
  return high.empty() || high == low ? low : fmt::format("[{}, {}]", low, high);
}

std::string bandwidth_text(const algorithms::PaperCost& paper) {
  return interval_of(paper.words, paper.words_high);
}

std::vector<Json> cost_records(const CostPoint& point) {
  std::vector<Json> records;
  const plan::Machine machine;  // DRAGONN's decisions depend on it
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    const algorithms::Options options(scheme.options, {});
    const algorithms::Cost cost = scheme.cost({.ranks = point.ranks,
                                               .n = point.n,
                                               .k = point.k,
                                               .iteration = 2,
                                               .options = &options,
                                               .alpha = machine.alpha,
                                               .beta_per_word = machine.beta_per_word});
    const algorithms::Interval run = cost.run();
    records.push_back({{"scheme", scheme.name},
                       {"collective", name_of(scheme.collective_kind)},
                       {"latency", interval_of(scheme.paper.latency, scheme.paper.latency_high)},
                       {"bandwidth", bandwidth_text(scheme.paper)},
                       {"reduction", interval_of(scheme.paper.reduced, scheme.paper.reduced_high)},
                       {"exact_when", scheme.exact_when},
                       {"added", scheme.added},
                       {"source", scheme.paper.ours && !scheme.source.starts_with("ours")
                                      ? "ours, for " + scheme.source
                                      : scheme.source},
                       {"ranks", point.ranks},
                       {"components", point.n},
                       {"k", point.k},
                       {"paper_messages", cost.paper.low.messages},
                       {"paper_words_low", cost.paper.low.words},
                       {"paper_words_high", cost.paper.high.words},
                       {"run_messages_low", run.low.messages},
                       {"run_messages_high", run.high.messages},
                       {"run_words_low", run.low.words},
                       {"run_words_high", run.high.words},
                       {"run_reduced_low", run.low.reduced},
                       {"run_reduced_high", run.high.reduced}});
  }
  return records;
}

}  // namespace thinwire::report
