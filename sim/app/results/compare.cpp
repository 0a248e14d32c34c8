#include "sim/app/results/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "sim/app/plan/network_info.hpp"

namespace thinwire::results {

namespace {

/// Returns 1 for 0/0: a formula that predicts nothing and a run that costs nothing agree.
double ratio(double simulated, double formula) {
  if (simulated == 0 && formula == 0) return 1;
  return simulated / formula;
}

/// The numbers of components that the ranks selected and that the result holds.
algorithms::SelectedCounts selected_in(const Outcome& outcome,
                                       const algorithms::SchemeInfo& scheme) {
  const SelectionSummary& selection = *outcome.selection;
  algorithms::SelectedCounts counts{
      .least = selection.least, .most = selection.most, .total = selection.total};
  if (scheme.carries_slots) counts = {selection.sent_least, selection.sent_most, selection.total};
  if (scheme.selects_result) {
    counts.least = std::min(counts.least, outcome.result_components);
    counts.most = std::max(counts.most, outcome.result_components);
  }
  return counts;
}

/// Why no formula describes the run of a row; empty if one does.
std::string why_incomparable(const Row& row, const plan::NetworkInfo& network) {
  if (!row.point.workload.model.empty()) {
    return "an iteration of a training takes longer than its allreduce";
  }
  if (network.is_real) return "the times of 'mpi' are those of a real machine";
  if (row.point.few_ranks() > 0) return "few ranks stand for all ('approximate')";
  if (row.outcome && row.outcome->extrapolated_chunks) {
    return "few chunks stand for all ('approximate')";
  }
  if (!network.has_clock) return "";
  if (row.point.stragglers.any()) return "the formulas have no stragglers";
  if (!has_papers_machine(row.point)) return "the machine has settings beside α, β and γ";
  return "";
}

}  // namespace

bool selects_far_from_k(const Row& row) {
  if (!row.outcome || !row.outcome->selection || row.point.k == 0) return false;
  const bool together = row.point.scheme->selects_together;
  const double share = 1 + row.outcome->selection->deviation(row.point.k, together);
  return share < 0.5 || share > 2;
}

std::string name_of(Verdict verdict) {
  constexpr std::array kNames{"exact",     "inside",    "above",  "OFF",
                              "selection", "congested", "faster", "-"};  // as Verdict
  return kNames.at(static_cast<std::size_t>(verdict));
}

double Comparison::ratio_low() const { return ratio(simulated, paper_high); }
double Comparison::ratio_high() const { return ratio(simulated, paper_low); }

algorithms::CostInput cost_input(const plan::Point& point, const plan::Machine& machine,
                                 const algorithms::Options& options, int iteration) {
  return {.ranks = point.ranks,
          .n = point.space.components,
          .k = point.k,
          .iteration = iteration,
          .options = &options,
          .granule = point.space.granule,
          .precision = point.space.precision,
          .tensors = &point.tensors,
          .alpha = machine.alpha,
          .beta_per_word = machine.beta_per_word,
          .node = machine.node,
          .switches = machine.switches};
}

algorithms::Cost cost_of(const plan::Point& point) {
  const algorithms::Options options(point.scheme->options, point.options);
  return point.scheme->cost(
      cost_input(point, point.machine, options, std::max(1, point.iterations)));
}

Comparison compare(const Row& row, double tolerance) {
  const algorithms::SchemeInfo& scheme = *row.point.scheme;
  const plan::NetworkInfo& network = *row.point.network;
  const bool has_clock = network.has_clock;
  const algorithms::Options options(scheme.options, row.point.options);
  const plan::Machine& machine = row.outcome ? row.outcome->machine : row.point.machine;
  const auto value = [&](algorithms::Terms terms) {
    return has_clock ? terms.messages * machine.alpha.value() +
                           terms.words * machine.beta_per_word.value() +
                           terms.reduced * machine.gamma(row.point.space.components).value() +
                           terms.seconds
                     : terms.messages;
  };

  algorithms::CostInput in =
      cost_input(row.point, machine, options,
                 row.outcome ? row.outcome->iteration : std::max(1, row.point.iterations));
  if (row.outcome && row.outcome->selection) {
    in.selected = selected_in(*row.outcome, scheme);
    in.result = row.outcome->result_components;
  }
  Comparison result;
  result.cost = scheme.cost(in);
  const algorithms::Cost& cost = result.cost;
  result.formula_low = value(cost.run().low);
  result.formula_high = value(cost.run().high);
  // Beyond the densities that a paper has in view, its lower bound may exceed the upper one.
  std::tie(result.paper_low, result.paper_high) =
      std::minmax({value(cost.paper.low), value(cost.paper.high)});
  result.added_low = value(cost.added.low);
  result.added_high = value(cost.added.high);
  result.incomparable = why_incomparable(row, network);
  result.machine_known = row.outcome || row.point.platform.empty();
  if (!row.outcome) return result;

  result.simulated =
      has_clock ? row.outcome->time().value() : static_cast<double>(row.outcome->steps);
  const double low = result.formula_low - tolerance * std::abs(result.formula_low);
  const double high = result.formula_high + tolerance * std::abs(result.formula_high);
  // Networks that share links agree with the α-β machine to less than this where nothing is
  // congested. Then it suffices that the time of the α-β machine is that of the formula.
  constexpr double kSame = 1e-3;
  const double factor = row.outcome->congestion_factor().value_or(1);
  const auto lies_within = [&](double time) { return time >= low && time <= high; };
  const bool within = lies_within(result.simulated) || lies_within(result.simulated / factor);
  // Papers count values and indexes of a word each.
  const bool of_paper = result.paper_high > 0 && row.point.space.precision == Precision{};
  const bool above_paper = of_paper && result.ratio_low() > 1 + kSame;
  result.changed_by_network = std::abs(factor - 1) > kSame;
  result.misses = !within && !result.changed_by_network;
  result.verdict = selects_far_from_k(row) ? Verdict::selection
                   : factor > 1 + kSame    ? Verdict::congested
                   : factor < 1 - kSame    ? Verdict::faster
                   : result.misses         ? Verdict::off
                   : cost.exact            ? Verdict::exact
                   : above_paper           ? Verdict::above
                                           : Verdict::inside;
  return result;
}

}  // namespace thinwire::results
