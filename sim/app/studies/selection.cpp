#include "sim/app/studies/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <system_error>
#include <utility>

#include "algorithms/error_feedback.hpp"
#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/quantity.hpp"
#include "traces/profile_source.hpp"

namespace thinwire::studies {

namespace {

algorithms::OptionValue value_from(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parse_whole(text)) return *whole;
  if (const auto number = parse_quantity(text)) return *number;
  throw InputError("'{}' is no number and neither true nor false", text);
}

/// The sparsifiers of all ranks, kept across the iterations.
class Selecting {
 public:
  Selecting(const SparsifierChoice& choice, algorithms::SchemeSetup setup)
      : setup_(std::move(setup)) {
    const algorithms::SparsifierInfo& info = algorithms::find_sparsifier(choice.name);
    setup_.options = algorithms::Options(info.options, choice.options);
    const algorithms::OptionUse use{
        .options = setup_.options, .ranks = setup_.ranks, .n = setup_.space.components};
    for (const algorithms::OptionInfo& option : info.options) {
      if (!option.idle || !choice.options.contains(option.name)) continue;
      const std::string why = option.idle(use);
      if (why.empty()) continue;
      throw InputError("'{}': {} changes nothing here: {}", choice.text(), option.name, why);
    }
    setup_.shared = &shared_;
    for (int rank = 0; rank < setup_.ranks; ++rank) sparsifiers_.push_back(info.make(setup_));
    together_ = info.needs == algorithms::Needs::values_of_all;
  }

  /// Returns one selection per rank and adds the counts to `series`.
  std::vector<SparseVector> select(const std::vector<SparseVector>& accumulated, int step,
                                   SelectionSeries& series) {
    std::vector<SparseVector> selected;
    std::vector<std::int64_t> counts;
    std::vector<double> shares;
    const double wanted = static_cast<double>(setup_.k) / (together_ ? setup_.ranks : 1);
    for (std::size_t rank = 0; rank < accumulated.size(); ++rank) {
      selected.push_back(sparsifiers_[rank]
                             ->select(accumulated[rank], Rank(static_cast<int>(rank)), step)
                             .selected);
      counts.push_back(static_cast<std::int64_t>(selected.back().size()));
      shares.push_back(static_cast<double>(counts.back()) / wanted);
    }
    const Numbers all(std::move(counts));
    for (const auto& sparsifier : sparsifiers_) sparsifier->observe(all, step);
    series.selected.push_back(std::move(shares));
    shared_.clear();
    return selected;
  }
  [[nodiscard]] bool together() const { return together_; }
  [[nodiscard]] const algorithms::SchemeSetup& setup() const { return setup_; }

 private:
  SharedWork shared_{64};
  algorithms::SchemeSetup setup_;
  std::vector<std::unique_ptr<algorithms::Sparsifier>> sparsifiers_;
  bool together_ = false;
};

/// The part of its accumulator that each rank may drop.
std::vector<SparseVector> forgotten(const std::vector<SparseVector>& accumulated,
                                    const std::vector<SparseVector>& selected,
                                    traces::ResidualRule rule, const Selecting& selecting) {
  const SparseVector all = sum(selected);
  // If ranks select in disjoint parts, the values of all ranks there are added.
  if (selecting.together()) {
    std::vector<SparseVector> sent;
    for (const SparseVector& own : accumulated) sent.push_back(intersect(own, all));
    return sent;
  }
  if (rule == traces::ResidualRule::all) return selected;
  const SparseVector kept = select_largest(all, selecting.setup().k);
  std::vector<SparseVector> sent;
  for (const SparseVector& own : selected) sent.push_back(intersect(own, kept));
  return sent;
}

}  // namespace

std::string SparsifierChoice::text() const {
  std::string text = name;
  for (const auto& [option, value] : options) {
    text += text == name ? ":" : ",";
    text += option + "=" + std::visit([](auto v) { return fmt::format("{}", v); }, value);
  }
  return text;
}

SparsifierChoice SparsifierChoice::parse(const std::string& text) {
  const std::size_t colon = text.find(':');
  SparsifierChoice choice{.name = text.substr(0, colon)};
  const algorithms::SparsifierInfo& info = algorithms::find_sparsifier(choice.name);
  std::size_t begin = colon;
  while (begin != std::string::npos) {
    const std::size_t end = text.find(',', begin + 1);
    const std::string option = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      throw InputError("'{}': an option is NAME=VALUE, as in threshold_reuse:nudge=true", option);
    }
    choice.options[option.substr(0, equals)] = value_from(option.substr(equals + 1));
    begin = end;
  }
  static_cast<void>(algorithms::Options(info.options, choice.options));
  if (info.settle && choice.options.contains("settled")) {
    throw InputError(
        "'{}': selections are studied from the first iteration on; leave out 'settled'", text);
  }
  return choice;
}

SelectionDeviation deviation_of(const SelectionSeries& series, int first) {
  SelectionDeviation result;
  double iterations = 0;
  for (std::size_t i = 0; i < series.iterations.size(); ++i) {
    if (series.iterations[i] < first) continue;
    double mean = 0;
    double apart = 0;
    for (const double share : series.selected[i]) {
      mean += share / static_cast<double>(series.selected[i].size());
      apart += std::abs(share - 1) / static_cast<double>(series.selected[i].size());
    }
    result.mean += mean;
    result.of_means += std::abs(mean - 1);
    result.of_ranks += apart;
    result.most = std::max(result.most, std::abs(mean - 1));
    ++iterations;
  }
  if (iterations == 0) return {};
  result.mean /= iterations;
  result.of_means /= iterations;
  result.of_ranks /= iterations;
  return result;
}

SelectionSeries selection_over(const traces::TraceReader& trace, const SparsifierChoice& choice,
                               traces::ResidualRule rule) {
  if (!trace.gradients()) {
    throw InputError(
        "the trace holds no gradients, which sparsifiers need that select in another way than the "
        "recording did; record them, or fit a profile and use that");
  }
  const traces::GradientSample& sample = *trace.gradients();
  const auto size = static_cast<std::int64_t>(sample.coordinates.size());
  const auto k =
      std::max<std::int64_t>(1, std::llround(trace.header().density * static_cast<double>(size)));
  Selecting selecting(choice, {.ranks = sample.ranks, .space = {.components = size}, .k = k});
  SelectionSeries series{
      .sparsifier = choice.text(), .iterations = sample.iterations, .selected = {}};

  const auto entries = [](const std::vector<float>& values) {
    return entries_of(DenseBlock(0, values));
  };
  std::vector<algorithms::ErrorFeedback> feedback(static_cast<std::size_t>(sample.ranks));
  for (std::size_t rank = 0; rank < feedback.size(); ++rank) {
    feedback[rank].update(entries(sample.residuals[rank]), {.contributed = SparseVector()});
  }
  for (std::size_t step = 0; step < sample.iterations.size(); ++step) {
    std::vector<SparseVector> accumulated;
    for (std::size_t rank = 0; rank < feedback.size(); ++rank) {
      const SparseVector gradient = entries(trace.gradient(step, Rank(static_cast<int>(rank))));
      accumulated.push_back(std::get<SparseVector>(feedback[rank].accumulate(gradient)));
    }
    const std::vector<SparseVector> selected =
        selecting.select(accumulated, static_cast<int>(step) + 1, series);
    const std::vector<SparseVector> sent = forgotten(accumulated, selected, rule, selecting);
    for (std::size_t rank = 0; rank < feedback.size(); ++rank) {
      feedback[rank].update(accumulated[rank], {.contributed = sent[rank]});
    }
  }
  return series;
}

SelectionSeries selection_over(const traces::Profile& profile, const SparsifierChoice& choice,
                               int ranks, int iterations, std::uint64_t seed) {
  const auto n = static_cast<double>(profile.components);
  const auto k = std::max<std::int64_t>(1, std::llround(profile.density * n));
  const GradientSpace space{.components = profile.components, .granule = 1};
  const traces::StatisticalProfileSource source(
      profile, {.space = space, .k = k, .seed = seed, .start_up = true});
  Selecting selecting(choice, {.ranks = ranks, .space = space, .k = k, .seed = seed});
  SelectionSeries series{.sparsifier = choice.text(), .iterations = {}, .selected = {}};

  // ln of each rank's residual, relative to its value if exactly k entries are selected.
  std::vector<double> residual(static_cast<std::size_t>(ranks), 0);
  const Population& population = source.counts();
  const double expected = static_cast<double>(k) + population.excess(1, 1);
  for (int step = 1; step <= iterations; ++step) {
    std::vector<SparseVector> accumulated;
    for (int rank = 0; rank < ranks; ++rank) {
      const double factor = std::exp(residual[static_cast<std::size_t>(rank)]);
      accumulated.push_back(source.accumulator(Rank(rank), step, factor));
    }
    static_cast<void>(selecting.select(accumulated, step, series));
    series.iterations.push_back(step);
    for (std::size_t rank = 0; rank < residual.size(); ++rank) {
      const double count = series.selected.back()[rank] * static_cast<double>(k);
      const double ratio =
          population.magnitudes().ratio(std::max(1e-9, count / static_cast<double>(k)));
      const double taken = count * ratio + population.excess(ratio, 1);
      const double change = 1 - taken / expected;
      residual[rank] +=
          std::max(change, -profile.thresholds.filling / 2) / profile.thresholds.filling;
    }
  }
  return series;
}

}  // namespace thinwire::studies
