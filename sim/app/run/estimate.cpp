#include "sim/app/run/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/registry.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/results/row.hpp"
#include "sim/app/run/extrapolation.hpp"
#include "sim/machine/workloads/iteration.hpp"

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

const Prices& prices_of(const std::string& network) {
  if (network == "smpi") return kSmpi;
  return network == "links" ? kLinks : kEventLoop;
}

/// The iterations that a run simulates: those of the point, and one of each other kind that the
/// scheme goes through.
double simulated_iterations(const plan::Point& point) {
  const algorithms::SchemeInfo& info = algorithms::find_scheme(point.scheme);
  const algorithms::Options options(info.options, point.options);
  const bool training = !point.workload.model.empty();
  if (training && point.iterations == 0) {
    return static_cast<double>(workloads::kinds_of_iterations(info, options).size());
  }
  const auto given = static_cast<double>(point.iterations);
  if (training || point.error_feedback || !plan::find_network(point.network).has_clock)
    return given;
  const auto kinds = workloads::kinds_from_run(info, options, point.iterations);
  return given + static_cast<double>(
                     std::ranges::count_if(kinds, [&](const workloads::WeightedIteration& kind) {
                       return kind.iteration > point.iterations;
                     }));
}

}  // namespace

double estimated_wall_s(const plan::Point& point) {
  const Prices& prices = prices_of(point.network);
  results::Row row;
  row.point = point;
  const algorithms::Cost cost = compare(row, 0).cost;
  const double ranks = point.simulated_ranks();
  const double iterations = simulated_iterations(point);
  const double share = simulated_share(point, point.machine);
  const double messages = share * iterations * ranks * cost.run().high.messages;
  const bool dense = algorithms::find_scheme(point.scheme).dense;
  const auto values = static_cast<double>(dense ? point.space.components : point.k);
  const double carried =
      share * iterations * ranks * values / static_cast<double>(point.space.granule);
  const double all = prices.point + ranks * prices.rank + messages * prices.message +
                     (point.input.statistical ? 0 : carried * (dense ? kComponent : kEntry));
  return std::isfinite(all) ? all : prices.point;  // the scheme cannot run there
}

}  // namespace thinwire::run
