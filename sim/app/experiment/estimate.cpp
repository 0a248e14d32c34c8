#include "sim/app/experiment/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "sim/app/experiment/compare.hpp"
#include "sim/app/experiment/row.hpp"

namespace thinwire::experiment {

namespace {

/// The prices of a simulation in seconds of wall-clock time.
struct Prices {
  double point;
  double rank;  ///< for preparing routes, ranks and their input
  double message;
  double message_a_rank;  ///< added to `message`, per rank
};

constexpr Prices kEventLoop{.point = 0.05, .rank = 0, .message = 4e-7, .message_a_rank = 0};
constexpr Prices kLinks{.point = 0.3, .rank = 1e-3, .message = 2e-6, .message_a_rank = 0};
constexpr Prices kSmpi{.point = 0.4, .rank = 0, .message = 1e-5, .message_a_rank = 4e-8};
constexpr double kEntry = 5e-8;

const Prices& prices_of(const std::string& network) {
  if (network == "smpi") return kSmpi;
  return network == "links" ? kLinks : kEventLoop;
}

}  // namespace

double estimated_wall_s(const Point& point) {
  const Prices& prices = prices_of(point.network);
  Row row;
  row.point = point;
  const algorithms::Cost cost = compare(row, 0).cost;
  const double ranks = point.ranks;
  const double iterations = std::max(point.iterations, 2);
  const double messages = iterations * ranks * cost.run().high.messages;
  const double entries = point.input.statistical
                             ? 0
                             : iterations * ranks * static_cast<double>(point.k) /
                                   static_cast<double>(point.space.granule);
  const double all = prices.point + ranks * prices.rank +
                     messages * (prices.message + prices.message_a_rank * ranks) + entries * kEntry;
  return std::isfinite(all) ? all : prices.point;  // the scheme cannot run there
}

}  // namespace thinwire::experiment
