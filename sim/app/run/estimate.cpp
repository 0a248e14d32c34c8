#include "sim/app/run/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "sim/app/results/compare.hpp"
#include "sim/app/run/extrapolation.hpp"
#include "sim/app/run/tasks.hpp"

namespace thinwire::run {

namespace {

/// The prices of a simulation in seconds of wall-clock time.
struct Prices {
  double point;
  double rank;  ///< for preparing it, and its routes
  double message;
};

constexpr Prices kEventLoop{.point = 0.25, .rank = 0, .message = 8e-7};
constexpr Prices kRounds{.point = 0.25, .rank = 2e-5, .message = 5e-10};
constexpr Prices kLinks{.point = 0.84, .rank = 1e-3, .message = 2.4e-6};
constexpr Prices kSmpi{.point = 0.62, .rank = 6.6e-4, .message = 2e-5};
constexpr double kEntry = 6.2e-8;      // of a selection
constexpr double kComponent = 4.5e-9;  // of a dense gradient

/// The entries of one rank that a simulation has, or its dense components where they have values.
double values_of_rank(const plan::Point& point) {
  const bool dense = point.scheme->dense;
  if (point.input.statistical) return 0;
  if (dense && !point.scheme->approximate && !point.error_feedback) return 0;
  return static_cast<double>(dense ? point.space.components : point.k) /
         static_cast<double>(point.space.granule);
}

/// Whether the messages of the α-β machine are taken in rounds.
bool in_rounds(const plan::Point& point) {
  return point.scheme->takes_rounds && values_of_rank(point) == 0 &&
         point.machine.host.noise == Seconds(0);
}

const Prices& prices_of(const plan::Point& point) {
  const plan::NetworkId network = point.network->id;
  if (network == plan::NetworkId::smpi) return kSmpi;
  if (network == plan::NetworkId::links) return kLinks;
  return in_rounds(point) ? kRounds : kEventLoop;
}

}  // namespace

double least_memory(const plan::Point& point) {
  constexpr double kValue = 8;
  return kValue * point.simulated_ranks() * simulated_share(point, point.machine) *
         values_of_rank(point);
}

double estimated_wall_s(const plan::Point& point) {
  const Prices& prices = prices_of(point);
  const algorithms::Cost cost = results::cost_of(point);
  const double ranks = point.simulated_ranks();
  const auto iterations = static_cast<double>(part_of(point, true).iterations.size());
  const double share = simulated_share(point, point.machine);
  const double messages = share * iterations * ranks * cost.run().high.messages;
  const bool dense = point.scheme->dense;
  const double carried = share * iterations * ranks * values_of_rank(point);
  const double all = prices.point + ranks * prices.rank + messages * prices.message +
                     carried * (dense ? kComponent : kEntry);
  return std::isfinite(all) ? all : prices.point;  // the scheme cannot run there
}

}  // namespace thinwire::run
