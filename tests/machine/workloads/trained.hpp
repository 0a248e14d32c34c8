// Iterations of a training on the α-β machine, which tests run by hand.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/by_layer.hpp"
#include "algorithms/registry.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/workloads/iteration.hpp"
#include "tests/support/gradients.hpp"

namespace thinwire::workloads {

inline constexpr double kAlpha = 2e-6;
inline constexpr double kBeta = 1e-9;

inline networks::AlphaBetaNetwork network_of(double alpha, double beta) {
  return networks::AlphaBetaNetwork(networks::LogGP{.latency = Seconds(0),
                                                    .overhead = Seconds(0),
                                                    .gap = Seconds(alpha),
                                                    .gap_per_word = Seconds(beta)});
}

/// Eight layers of 1/8 of the gradient and of the backward pass each.
inline ComputeTimes even_layers(std::int64_t components, double forward, double backward) {
  ComputeTimes times{.forward = Seconds(forward), .backward = Seconds(backward), .ready = {}};
  for (int i = 1; i <= 8; ++i) {
    times.ready.push_back({.first = components - components * i / 8,
                           .time = i == 8 ? Seconds(backward) : Seconds(backward * i / 8)});
  }
  return times;
}

/// Runs iterations of a training by hand.
struct Trained {
  int ranks = 8;
  std::int64_t n = 8000;
  std::int64_t k = 80;
  double alpha = kAlpha;
  double beta = kBeta;
  double forward = 1e-4;
  double backward = 2e-4;
  WorkPrices prices = {};
  std::map<std::string, algorithms::OptionValue> options = {};
  bool overlap = true;  ///< false: the whole backward pass first
  std::vector<std::int64_t> tensors = {};
  std::vector<std::int64_t> layers = {};  ///< the scheme runs layer by layer, if there are any
  algorithms::Feedback feedback = algorithms::Feedback::none;
  int local_steps = 1;

  [[nodiscard]] RunReport run(const std::string& name, int iteration = 1) const {
    algorithms::SchemeInfo info = algorithms::find_scheme(name);
    if (!layers.empty()) info = algorithms::layer_by_layer(info, layers);
    const GradientSpace space{.components = n, .granule = 1};
    SharedWork shared(4096);
    WorkPrices on_device = prices;
    on_device.merge = prices.scatter;  // as on a GPU
    const algorithms::SchemeSetup setup{.ranks = ranks,
                                        .space = space,
                                        .k = k,
                                        .gamma = Gamma(on_device),
                                        .prices = on_device,
                                        .on_device = true,
                                        .options = algorithms::Options(info.options, options),
                                        .shared = &shared,
                                        .alpha = Seconds(alpha),
                                        .beta_per_word = Seconds(beta),
                                        .tensors = tensors};
    std::vector<std::unique_ptr<algorithms::Scheme>> schemes;
    for (int rank = 0; rank < ranks; ++rank) schemes.push_back(info.make(setup));
    const Training training{.compute = even_layers(n, forward, backward),
                            .prices = prices,
                            .space = space,
                            .feedback = feedback,
                            .local_steps = local_steps};
    networks::AlphaBetaNetwork network = network_of(alpha, beta);
    std::vector<algorithms::Reduced> results(static_cast<std::size_t>(ranks));
    return network.run(ranks, [&](Communicator& comm) {
      const auto at = static_cast<std::size_t>(comm.rank().value());
      algorithms::LocalGradient gradient;
      if (info.dense) {
        gradient = test::dense_gradient(static_cast<std::uint32_t>(n), comm.rank().value());
      } else {
        gradient = test::shaped_gradient(test::Shape::random, static_cast<std::uint32_t>(n), ranks,
                                         comm.rank().value(), iteration, static_cast<int>(2 * k));
      }
      return one(comm, *schemes[at], training, std::move(gradient), iteration, results[at]);
    });
  }

  [[nodiscard]] double seconds(const std::string& name) const {
    return run(name).makespan().value();
  }

 private:
  Task<void> one(Communicator& comm, algorithms::Scheme& scheme, const Training& training,
                 algorithms::LocalGradient gradient, int iteration,
                 algorithms::Reduced& result) const {
    if (overlap) {
      Task<algorithms::Reduced> task =
          train_iteration(comm, scheme, training, std::move(gradient), iteration);
      result = co_await std::move(task);
      co_return;
    }
    co_await comm.compute(training.compute.forward + training.compute.backward);
    Task<algorithms::Reduced> task = scheme.allreduce(comm, std::move(gradient), iteration);
    result = co_await std::move(task);
  }
};

/// Those that need no switches that sum.
inline std::vector<algorithms::SchemeInfo> allreduces() {
  const auto all = algorithms::schemes_of(algorithms::Collective::allreduce);
  std::vector<algorithms::SchemeInfo> schemes(all.begin(), all.end());
  std::erase_if(schemes, [](const algorithms::SchemeInfo& scheme) { return scheme.in_switches; });
  return schemes;
}

}  // namespace thinwire::workloads
