// One iteration of a training, as a coroutine a rank: the forward pass, the backward pass with
// gradients that become ready layer by layer, selection at the device's prices, the scheme's
// allreduce, and copies between GPU and host.
#pragma once

#include "algorithms/scheme.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::workloads {

/// What is around the scheme, of all ranks; outlives the iterations.
struct Training {
  ComputeTimes compute;
  WorkPrices prices;
  GradientSpace space;
};

/// Alone, a rank computes and has nothing to exchange: its gradient is the sum.
[[nodiscard]] Task<algorithms::Reduced> train_iteration(Communicator& comm,
                                                        algorithms::Scheme& scheme,
                                                        const Training& training,
                                                        algorithms::LocalGradient gradient,
                                                        int iteration);

/// Where the time of an iteration went, on the rank that ended last. They add up.
struct IterationParts {
  Seconds computation;     ///< forward and backward pass, input and update
  Seconds sparsification;  ///< selecting what is sent
  Seconds communication;   ///< the rest: allreduce and copies, as far as they were waited for

  [[nodiscard]] Seconds total() const { return computation + sparsification + communication; }
};
[[nodiscard]] IterationParts parts_of(const RunReport& report);

/// An iteration to run, and its share in the mean over all iterations.
struct WeightedIteration {
  int iteration = 1;
  double weight = 1;
};

/// The kinds of iterations that a scheme goes through, one of each with its share: by the options
/// that are its periods (thresholds and regions anew every so often), the middle one of those that
/// are alike; with weight 0 those in which what it goes on with began. Throws InputError where the
/// periods have no common multiple below a million. A scheme that settles first runs those
/// iterations with weight 0, then four more.
[[nodiscard]] std::vector<WeightedIteration> kinds_of_iterations(
    const algorithms::SchemeInfo& scheme, const algorithms::Options& options);

}  // namespace thinwire::workloads
