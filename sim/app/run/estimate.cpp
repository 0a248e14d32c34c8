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
  double rank;  ///< for preparing routes
  double message;
};

constexpr Prices kEventLoop{.point = 0.25, .rank = 0, .message = 1.6e-6};
constexpr Prices kLinks{.point = 0.84, .rank = 1e-3, .message = 2.4e-6};
constexpr Prices kSmpi{.point = 0.62, .rank = 6.6e-4, .message = 2e-5};
constexpr double kEntry = 6.2e-8;      // of a selection
constexpr double kComponent = 4.5e-9;  // of a dense gradient

const Prices& prices_of(plan::NetworkId network) {
  if (network == plan::NetworkId::smpi) return kSmpi;
  return network == plan::NetworkId::links ? kLinks : kEventLoop;
}

}  // namespace

double estimated_wall_s(const plan::Point& point) {
  const Prices& prices = prices_of(point.network->id);
  const algorithms::Cost cost = results::cost_of(point);
  const double ranks = point.simulated_ranks();
  const auto iterations = static_cast<double>(part_of(point, true).iterations.size());
  const double share = simulated_share(point, point.machine);
  const double messages = share * iterations * ranks * cost.run().high.messages;
  const bool dense = point.scheme->dense;
  auto values = static_cast<double>(dense ? point.space.components : point.k);
  if (dense && !point.scheme->approximate && !point.error_feedback) values = 0;  // it has none
  const double carried =
      share * iterations * ranks * values / static_cast<double>(point.space.granule);
  const double all = prices.point + ranks * prices.rank + messages * prices.message +
                     (point.input.statistical ? 0 : carried * (dense ? kComponent : kEntry));
  return std::isfinite(all) ? all : prices.point;  // the scheme cannot run there
}

}  // namespace thinwire::run
