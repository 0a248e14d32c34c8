#include "sim/experiment/networks.hpp"

#include <fmt/format.h>

#include "sim/core/errors.hpp"
#include "sim/core/nearest.hpp"
#include "sim/experiment/point.hpp"
#include "sim/networks/alphabeta/alphabeta.hpp"
#include "sim/networks/counting/counting.hpp"

namespace thinwire {

namespace {

std::unique_ptr<Network> make_alphabeta(const Point& point) {
  return std::make_unique<AlphaBetaNetwork>(LogGP{.latency = point.machine.latency,
                                                  .overhead = point.machine.overhead,
                                                  .gap = point.machine.alpha,
                                                  .gap_per_word = point.machine.beta_per_word});
}

std::unique_ptr<Network> make_counting(const Point& /*point*/) {
  return std::make_unique<CountingNetwork>();
}

}  // namespace

std::vector<NetworkInfo> all_networks() {
  return {
      {.name = "alphabeta",
       .summary = "the papers' machine, T(L) = alpha + beta L, ports full duplex; LogGP in general",
       .parameters = "machine.alpha_s, .beta_s_per_word, .latency_s, .overhead_s",
       .has_clock = true,
       .make = make_alphabeta},
      {.name = "counting",
       .summary = "no clock: steps, messages and words of a schedule",
       .parameters = "none",
       .has_clock = false,
       .make = make_counting}};
}

NetworkInfo find_network(std::string_view name) {
  std::vector<std::string> names;
  for (NetworkInfo& network : all_networks()) {
    if (network.name == name) return std::move(network);
    names.push_back(network.name);
  }
  throw InputError(fmt::format("unknown network '{}'{}", name, did_you_mean(name, names)));
}

}  // namespace thinwire
