// One training iteration as a coroutine per rank: the forward pass, the backward pass with
// gradients that become ready layer by layer, selection at the device's prices, the scheme's
// allreduce, and copies between GPU and host.
#pragma once

#include "algorithms/scheme.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::workloads {

/// The parameters of a training that all ranks share; must outlive the iterations.
struct Training {
  ComputeTimes compute;
  WorkPrices prices;
  GradientSpace space;
  algorithms::Feedback feedback = algorithms::Feedback::none;  ///< of sparse schemes
  int local_steps = 1;  ///< passes of which only the last one ends with an exchange
};

/// Runs one iteration, after `local_steps` - 1 that exchange nothing. `comm` joins the ranks
/// that sum the gradient, a data-parallel group. With a single rank there is nothing to exchange:
/// its gradient is the sum. `sum` is called for the activations of ComputeTimes, if it is not empty;
/// there are no local steps then.
[[nodiscard]] Task<algorithms::Reduced> train_iteration(
    Communicator& comm, algorithms::Scheme& scheme, const Training& training,
    algorithms::LocalGradient gradient, int iteration, algorithms::SumActivations sum = {});

/// The breakdown of an iteration's time on the rank that ended last. The parts add up to the total.
struct IterationParts {
  Seconds computation;           ///< forward and backward pass, input and update
  Seconds sparsification;        ///< error feedback, and selection of the entries to send
  Seconds communication;         ///< the rest: allreduce and copies, as far as they are not hidden
  Seconds tensor_parallel = {};  ///< sums of activations, which nothing hides

  [[nodiscard]] Seconds total() const {
    return computation + sparsification + communication + tensor_parallel;
  }
  friend IterationParts operator*(IterationParts parts, double factor) {
    return {parts.computation * factor, parts.sparsification * factor, parts.communication * factor,
            parts.tensor_parallel * factor};
  }
};
[[nodiscard]] IterationParts parts_of(const RunReport& report);

/// An iteration to run, and its weight in the mean over all iterations.
struct WeightedIteration {
  int iteration = 1;
  double weight = 1;
  bool periodic = false;  ///< one of the scheme's periods, longer than 1, begins in it
};

/// One iteration of each kind that a scheme goes through, with its share. The kinds follow from the
/// options that are the scheme's periods (intervals after which thresholds or regions are computed
/// anew); the middle one of similar iterations represents its kind. Earlier iterations on whose
/// state these depend have weight 0. Throws InputError when the periods have no common multiple
/// below a million. A scheme that settles, no two of whose iterations are alike, runs four.
[[nodiscard]] std::vector<WeightedIteration> kinds_of_iterations(
    const algorithms::SchemeInfo& scheme, const algorithms::Options& options);

/// The same for a run of the iterations 1 to `last`: a kind is represented by the last of them that
/// is of this kind, or else by the first one after them, so that little more has to run. Empty if
/// the scheme has no periods, or none with a common multiple of at most a million.
[[nodiscard]] std::vector<WeightedIteration> kinds_from_run(const algorithms::SchemeInfo& scheme,
                                                            const algorithms::Options& options,
                                                            int last);

}  // namespace thinwire::workloads
