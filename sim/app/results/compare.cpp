#include "sim/app/results/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include "sim/app/plan/network_info.hpp"

namespace thinwire::results {

namespace {

/// Returns 1 for 0/0: a formula that predicts nothing and a run that costs nothing agree.
double ratio(double simulated, double formula) {
  if (simulated == 0 && formula == 0) return 1;
  return simulated / formula;
}

/// How many components the ranks selected, and how many the result holds.
algorithms::SelectedCounts selected_in(const SelectionSummary& selection, std::int64_t result,
                                       const algorithms::SchemeInfo& scheme) {
  algorithms::SelectedCounts counts{
      .least = selection.least, .most = selection.most, .total = selection.total};
  if (scheme.carries_slots) counts = {selection.sent_least, selection.sent_most, selection.total};
  if (scheme.selects_result) {
    counts.least = std::min(counts.least, result);
    counts.most = std::max(counts.most, result);
  }
  return counts;
}

/// The complete formula of an iteration, or of several in the mean.
struct Formula {
  double low = 0;
  double high = 0;
  bool exact = true;
};

/// Judges times of a row by formulas.
class Judge {
 public:
  Judge(const Row& row, double tolerance)
      : row_(row),
        scheme_(*row.point.scheme),
        has_clock_(row.point.network->has_clock),
        options_(scheme_.options, row.point.options),
        machine_(row.outcome ? row.outcome->machine : row.point.machine),
        tolerance_(tolerance) {}

  [[nodiscard]] algorithms::Cost cost_of(int iteration,
                                         const std::optional<SelectionSummary>& selection,
                                         std::int64_t result) const {
    algorithms::CostInput in = cost_input(row_.point, machine_, options_, iteration);
    if (selection) {
      in.selected = selected_in(*selection, result, scheme_);
      in.result = result;
      if (iteration == row_.outcome->iteration) in.selected->split_words = split_words();
    }
    return scheme_.cost(in);
  }
  /// The most words that a rank received in the split of the reported iteration.
  [[nodiscard]] std::optional<std::int64_t> split_words() const {
    std::optional<std::int64_t> words;
    for (const PhaseCost& phase : row_.outcome->phases) {
      if (!phase.name.starts_with("split_")) continue;
      words = words.value_or(0) + phase.words_received.value();
    }
    return words;
  }
  [[nodiscard]] double value(algorithms::Terms terms) const {
    if (!has_clock_) return terms.messages;
    return terms.messages * machine_.alpha.value() + terms.words * machine_.beta_per_word.value() +
           terms.reduced * machine_.gamma(row_.point.space.components).value() + terms.seconds;
  }
  /// The formula of the mean over all kinds of iterations; nothing if it is not known what the
  /// ranks selected in them.
  [[nodiscard]] std::optional<Formula> mean_formula() const {
    Formula mean;
    for (const KindTime& kind : row_.outcome->kinds) {
      if (!kind.selection && row_.outcome->selection) return std::nullopt;
      const algorithms::Cost cost =
          cost_of(kind.which.iteration, kind.selection, kind.result_components);
      mean.low += kind.which.weight * value(cost.run().low);
      mean.high += kind.which.weight * value(cost.run().high);
      mean.exact = mean.exact && cost.exact;
    }
    return mean;
  }

  /// Networks that share links agree with the LogGP machine to less than this where nothing is
  /// congested. Then it suffices that the machine's time equals the formula.
  static constexpr double kSame = 1e-3;
  [[nodiscard]] double factor() const { return row_.outcome->congestion_factor().value_or(1); }
  [[nodiscard]] bool lies_within(double time, const Formula& formula) const {
    const double low = formula.low - tolerance_ * std::abs(formula.low);
    const double high = formula.high + tolerance_ * std::abs(formula.high);
    const auto lies = [&](double one) { return one >= low && one <= high; };
    return lies(time) || lies(time / factor());
  }
  /// Whether the network makes a run faster or slower than the formula says, which charges its ports
  /// with all of α.
  [[nodiscard]] bool changes(double time, const Formula& formula) const {
    const bool overlaps = machine_.route_latency > Seconds(0) && time < formula.low;
    return std::abs(factor() - 1) > kSame || (overlaps && !lies_within(time, formula));
  }
  [[nodiscard]] Verdict verdict(double time, const Formula& formula, double paper_high) const {
    // Papers count values and indexes of a word each.
    const bool of_paper = paper_high > 0 && row_.point.space.precision == Precision{};
    if (selects_far_from_k(row_)) return Verdict::selection;
    if (factor() > 1 + kSame) return Verdict::congested;
    if (changes(time, formula)) return Verdict::faster;
    if (!lies_within(time, formula)) return Verdict::off;
    if (formula.exact) return Verdict::exact;
    const bool above = of_paper && !scheme_.paper.ours && time > (1 + kSame) * paper_high;
    return above ? Verdict::above : Verdict::inside;
  }

 private:
  const Row& row_;
  const algorithms::SchemeInfo& scheme_;
  bool has_clock_;
  algorithms::Options options_;
  const plan::Machine& machine_;
  double tolerance_;
};

/// Why no formula describes the run of a row; empty if one does.
std::string why_incomparable(const Row& row, const plan::NetworkInfo& network) {
  if (!row.point.workload.model.empty()) {
    return "an iteration of a training takes longer than its allreduce";
  }
  if (network.is_real) return "the times of 'mpi' come from a real machine";
  if (row.point.few_ranks() > 0) return "a few ranks stand for all ('approximate')";
  if (row.outcome && row.outcome->extrapolated_chunks) {
    return "a few chunks stand for all ('approximate')";
  }
  if (!network.has_clock) return "";
  if (row.point.stragglers.any()) return "the formulas have no stragglers";
  if (!has_papers_machine(row.point)) return "the machine has settings other than α, β and γ";
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
  return {.ranks = point.data_ranks(),
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
  const plan::NetworkInfo& network = *row.point.network;
  const Judge judge(row, tolerance);
  Comparison result;
  result.cost = row.outcome ? judge.cost_of(row.outcome->iteration, row.outcome->selection,
                                            row.outcome->result_components)
                            : judge.cost_of(std::max(1, row.point.iterations), std::nullopt, 0);
  const algorithms::Cost& cost = result.cost;
  result.formula_low = judge.value(cost.run().low);
  result.formula_high = judge.value(cost.run().high);
  // Beyond the densities that a paper has in view, its lower bound may exceed the upper one.
  std::tie(result.paper_low, result.paper_high) =
      std::minmax({judge.value(cost.paper.low), judge.value(cost.paper.high)});
  result.added_low = judge.value(cost.added.low);
  result.added_high = judge.value(cost.added.high);
  result.incomparable = why_incomparable(row, network);
  result.machine_known = row.outcome || row.point.platform.empty();
  if (!row.outcome) return result;

  result.simulated =
      network.has_clock ? row.outcome->time().value() : static_cast<double>(row.outcome->steps);
  const Formula formula{result.formula_low, result.formula_high, cost.exact};
  result.changed_by_network = judge.changes(result.simulated, formula);
  result.misses = !judge.lies_within(result.simulated, formula) && !result.changed_by_network;
  result.verdict = judge.verdict(result.simulated, formula, result.paper_high);
  if (!row.outcome->periodic_time()) return result;
  if (const std::optional<Formula> mean = judge.mean_formula()) {
    result.mean_verdict = judge.verdict(row.outcome->mean_time().value(), *mean, result.paper_high);
  }
  return result;
}

}  // namespace thinwire::results
