#include "sim/machine/workloads/iteration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/machine/workloads/activation_sums.hpp"

namespace thinwire::workloads {

namespace {

constexpr const char* kForward = "forward";
constexpr const char* kBackward = "backward";
/// The mean over this number of iterations, where the counts of each set the state of the next.
constexpr int kControlledIterations = 4;

/// The largest period of the whole pattern of iterations.
constexpr std::int64_t kLongestCycle = 1'000'000;

/// The intervals after which a scheme does periodic work, and their common multiple.
struct Periods {
  std::vector<std::int64_t> lengths;
  std::int64_t cycle = 1;

  /// Whether each period begins in the iteration.
  [[nodiscard]] std::vector<bool> begins(std::int64_t iteration) const {
    std::vector<bool> all;
    for (const std::int64_t length : lengths) all.push_back((iteration - 1) % length == 0);
    return all;
  }

  [[nodiscard]] bool any_begins(std::int64_t iteration) const {
    return std::ranges::any_of(
        lengths, [&](std::int64_t length) { return length > 1 && (iteration - 1) % length == 0; });
  }
};

/// Nothing if the common multiple is larger than kLongestCycle.
std::optional<Periods> periods_of(const algorithms::SchemeInfo& scheme,
                                  const algorithms::Options& options) {
  Periods periods;
  for (const std::string& name : scheme.periods) {
    periods.lengths.push_back(options.integer(name));
    if (periods.lengths.back() > kLongestCycle) return std::nullopt;
    periods.cycle = std::lcm(periods.cycle, periods.lengths.back());
    if (periods.cycle > kLongestCycle) return std::nullopt;
  }
  return periods;
}

Task<void> run_forward(Communicator& comm, const ComputeTimes& compute,
                       const algorithms::SumActivations& sum) {
  const auto phase = comm.phase(kForward);
  Seconds spent;
  if (sum) {
    for (const ForwardSum& part : compute.forward_sums) {
      co_await comm.compute(part.time - spent);
      co_await sum(part.components);
      spent = part.time;
    }
  }
  co_await comm.compute(compute.forward - spent);
}

}  // namespace

Task<algorithms::Reduced> train_iteration(Communicator& comm, algorithms::Scheme& scheme,
                                          const Training& training,
                                          algorithms::LocalGradient gradient, int iteration,
                                          algorithms::SumActivations sum) {
  if (training.local_steps > 1) {
    const double alone = training.local_steps - 1;
    {
      const auto phase = comm.phase(kForward);
      co_await comm.compute(training.compute.forward * alone);
    }
    const auto phase = comm.phase(kBackward);
    co_await comm.compute(training.compute.backward * alone);
  }
  co_await run_forward(comm, training.compute, sum);
  algorithms::TrainingStep step(training.compute.ready, training.prices, training.space,
                                training.feedback, std::move(sum));
  if (comm.size() == 1) {
    co_await run_backward(comm, step, 0);
    algorithms::LocalGradient all =
        std::holds_alternative<SparseVector>(gradient) ? gradient : algorithms::LocalGradient{};
    co_return algorithms::Reduced{.sum = std::move(gradient), .contributed = std::move(all)};
  }
  Task<algorithms::Reduced> task =
      scheme.allreduce_in_training(comm, std::move(gradient), iteration, step);
  gradient = {};
  co_return co_await std::move(task);
}

IterationParts parts_of(const RunReport& report) {
  const auto last = std::ranges::max_element(report.ranks, {}, &RankReport::finished);
  const auto spent = [&](std::string_view phase) {
    const auto found = std::ranges::find(report.phases, phase);
    const auto at = static_cast<std::size_t>(found - report.phases.begin());
    return at < last->by_phase.size() ? last->by_phase[at].time : Seconds(0);
  };
  IterationParts parts{
      .computation = spent(kForward) + spent(kBackward),
      .sparsification = spent(algorithms::kSparsification) + spent(algorithms::kErrorFeedback),
      .communication = {},
      .tensor_parallel = spent(kTensorParallel)};
  const double rest = last->finished.value() - parts.computation.value() -
                      parts.sparsification.value() - parts.tensor_parallel.value();
  parts.communication = Seconds(std::max(0.0, rest));
  return parts;
}

std::vector<WeightedIteration> kinds_of_iterations(const algorithms::SchemeInfo& scheme,
                                                   const algorithms::Options& options) {
  std::vector<WeightedIteration> kinds;
  if (scheme.settle) {
    for (int i = 1; i <= kControlledIterations; ++i) {
      kinds.push_back({i, 1.0 / kControlledIterations, false});
    }
    return kinds;
  }
  const std::optional<Periods> periods = periods_of(scheme, options);
  if (!periods) {
    throw InputError(
        "/options: {} goes through more than {} kinds of iterations; give periods with a smaller "
        "common multiple ({}), or say how many 'iterations' to run",
        scheme.name, kLongestCycle, fmt::join(scheme.periods, ", "));
  }
  // The kind of an iteration is the set of periods that begin in it. The time since the last begin
  // tells how well it represents its kind.
  struct Member {
    std::int64_t age;
    std::int64_t iteration;
    auto operator<=>(const Member&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::map<std::vector<bool>, std::vector<Member>> alike;
  for (std::int64_t i = 1; i <= periods->cycle; ++i) {
    std::int64_t age = periods->cycle;
    for (const std::int64_t length : periods->lengths) age = std::min(age, (i - 1) % length);
    alike[periods->begins(i)].push_back({age, i});
  }
  for (auto& [begins, members] : alike) {
    const double share = static_cast<double>(members.size()) / static_cast<double>(periods->cycle);
    const auto middle = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
    std::ranges::nth_element(members, middle);
    kinds.push_back(
        {static_cast<int>(middle->iteration), share, periods->any_begins(middle->iteration)});
  }
  // An iteration depends on the last beginning of each period, so that has to run as well.
  std::set<int> begun;
  for (const WeightedIteration& kind : kinds) {
    for (const std::int64_t period : periods->lengths) {
      begun.insert(static_cast<int>(kind.iteration - (kind.iteration - 1) % period));
    }
  }
  for (const WeightedIteration& kind : kinds) begun.erase(kind.iteration);
  for (const int iteration : begun) kinds.push_back({iteration, 0, true});
  std::ranges::sort(kinds, {}, &WeightedIteration::iteration);
  return kinds;
}

std::vector<WeightedIteration> kinds_from_run(const algorithms::SchemeInfo& scheme,
                                              const algorithms::Options& options, int last) {
  if (scheme.periods.empty()) return {};
  const std::optional<Periods> periods = periods_of(scheme, options);
  if (!periods) return {};
  std::map<std::vector<bool>, std::int64_t> sizes;  // iterations of each kind in a cycle
  std::map<std::vector<bool>, int> chosen;
  for (std::int64_t i = 1; i <= periods->cycle; ++i) ++sizes[periods->begins(i)];
  for (int i = 1; i <= last || chosen.size() < sizes.size(); ++i) {
    const std::vector<bool> kind = periods->begins(i);
    if (i <= last || !chosen.contains(kind)) chosen[kind] = i;
  }
  std::vector<WeightedIteration> kinds;
  for (const auto& [kind, iteration] : chosen) {
    const double share = static_cast<double>(sizes[kind]) / static_cast<double>(periods->cycle);
    kinds.push_back({iteration, share, periods->any_begins(iteration)});
  }
  std::ranges::sort(kinds, {}, &WeightedIteration::iteration);
  return kinds;
}

}  // namespace thinwire::workloads
