// Runs a scheme on a network, iteration by iteration.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/core/kernel/network.hpp"
#include "tests/support/switches.hpp"

namespace thinwire::test {

/// One iteration: the result of each rank, and the cost. All ranks start it together at time 0.
struct Iteration {
  std::vector<algorithms::Reduced> results;
  RunReport report;
};

/// The ranks' selections, and the result's if the scheme selects it again.
[[nodiscard]] inline algorithms::SelectedCounts selected_counts(const Iteration& outcome,
                                                                const algorithms::SchemeInfo& info,
                                                                std::int64_t granule) {
  algorithms::SelectedCounts counts{.least = INT64_MAX};
  const auto take = [&](std::int64_t selected) {
    counts.least = std::min(counts.least, selected);
    counts.most = std::max(counts.most, selected);
  };
  for (const algorithms::Reduced& result : outcome.results) {
    if (!result.selection.took_part) continue;
    take(info.carries_slots ? result.selection.sent : result.selection.selected);
    counts.total += result.selection.selected;
  }
  for (std::size_t phase = 0; phase < outcome.report.phases.size(); ++phase) {
    if (!outcome.report.phases[phase].starts_with("split_")) continue;
    std::int64_t most = 0;
    for (const RankReport& rank : outcome.report.ranks) {
      if (phase >= rank.by_phase.size()) continue;
      most = std::max(most, rank.by_phase[phase].words_received.value());
    }
    counts.split_words = counts.split_words.value_or(0) + most;
  }
  if (info.selects_result) {
    const auto& sum = std::get<SparseVector>(outcome.results.front().sum);
    take(static_cast<std::int64_t>(sum.size()) * granule);
  }
  return counts;
}

/// The network's α and β, for schemes that decide by cost.
struct Figures {
  Seconds alpha = {};
  Seconds beta_per_word = {};
};

/// The P ranks of a scheme, which live through all iterations.
class SchemeRanks {
 public:
  using GradientOf = std::function<algorithms::LocalGradient(int rank)>;

  SchemeRanks(const algorithms::SchemeInfo& info, int ranks, GradientSpace space, std::int64_t k,
              const std::map<std::string, algorithms::OptionValue>& options = {},
              Seconds gamma = Seconds(0), std::uint64_t seed = 1,
              std::vector<std::int64_t> tensors = {}, Figures figures = {})
      : shared_(4096),
        setup_{.ranks = ranks,
               .space = space,
               .k = k,
               .gamma = gamma,
               .options = algorithms::Options(info.options, options),
               .shared = &shared_,
               .alpha = figures.alpha,
               .beta_per_word = figures.beta_per_word,
               .switches = kSwitches,
               .seed = seed,
               .tensors = std::move(tensors)},
        info_(info) {
    for (int rank = 0; rank < ranks; ++rank) schemes_.push_back(info.make(setup_));
  }
  SchemeRanks(const SchemeRanks&) = delete;
  SchemeRanks& operator=(const SchemeRanks&) = delete;
  ~SchemeRanks() = default;

  [[nodiscard]] Iteration run(Network& network, int iteration, const GradientOf& gradient) {
    Iteration outcome;
    outcome.results.resize(schemes_.size());
    outcome.report = network.run(setup_.ranks, [&](Communicator& comm) {
      const int rank = comm.rank().value();
      const auto at = static_cast<std::size_t>(rank);
      return one_iteration(comm, *schemes_[at], gradient(rank), iteration, outcome.results[at]);
    });
    return outcome;
  }

  /// Runs iterations 1 .. count in one simulation, in which ranks need not be in step.
  [[nodiscard]] std::vector<std::vector<algorithms::Reduced>> run_through(
      Network& network, int count,
      const std::function<algorithms::LocalGradient(int rank, int iteration)>& gradient) {
    std::vector<std::vector<algorithms::Reduced>> results(
        static_cast<std::size_t>(count), std::vector<algorithms::Reduced>(schemes_.size()));
    network.run(setup_.ranks, [&](Communicator& comm) {
      return all_iterations(comm, *schemes_[static_cast<std::size_t>(comm.rank().value())],
                            gradient, results);
    });
    return results;
  }

  [[nodiscard]] const algorithms::SchemeSetup& setup() const { return setup_; }
  [[nodiscard]] std::size_t computed() const { return shared_.computed(); }

  /// The predicted cost for k of each rank, or for the ranks' actual selections.
  [[nodiscard]] algorithms::Cost cost(int iteration,
                                      std::optional<algorithms::SelectedCounts> selected = {},
                                      std::optional<std::int64_t> result = {}) const {
    return info_.cost({.ranks = setup_.ranks,
                       .n = setup_.space.components,
                       .k = setup_.k,
                       .iteration = iteration,
                       .options = &setup_.options,
                       .selected = selected,
                       .result = result,
                       .granule = setup_.space.granule,
                       .precision = setup_.space.precision,
                       .tensors = &setup_.tensors,
                       .alpha = setup_.alpha,
                       .beta_per_word = setup_.beta_per_word,
                       .switches = setup_.switches});
  }

 private:
  static Task<void> one_iteration(Communicator& comm, algorithms::Scheme& scheme,
                                  algorithms::LocalGradient gradient, int iteration,
                                  algorithms::Reduced& result) {
    Task<algorithms::Reduced> task = scheme.allreduce(comm, std::move(gradient), iteration);
    result = co_await std::move(task);
  }

  static Task<void> all_iterations(
      Communicator& comm, algorithms::Scheme& scheme,
      const std::function<algorithms::LocalGradient(int rank, int iteration)>& gradient,
      std::vector<std::vector<algorithms::Reduced>>& results) {
    const int rank = comm.rank().value();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const int iteration = static_cast<int>(i) + 1;
      Task<algorithms::Reduced> task = scheme.allreduce(comm, gradient(rank, iteration), iteration);
      results[i][static_cast<std::size_t>(rank)] = co_await std::move(task);
    }
  }

  SharedWork shared_;
  algorithms::SchemeSetup setup_;
  algorithms::SchemeInfo info_;
  std::vector<std::unique_ptr<algorithms::Scheme>> schemes_;
};

}  // namespace thinwire::test
