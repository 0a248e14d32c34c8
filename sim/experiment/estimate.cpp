#include "sim/experiment/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "sim/experiment/compare.hpp"
#include "sim/experiment/row.hpp"

namespace thinwire {

namespace {

/// Seconds of wall-clock time.
struct Prices {
  double point;
  double message;
  double message_a_rank;  ///< on top of `message`, for each rank that there is
};

constexpr Prices kEventLoop{.point = 0.05, .message = 4e-7, .message_a_rank = 0};
constexpr Prices kSmpi{.point = 0.4, .message = 1e-5, .message_a_rank = 4e-8};
constexpr double kEntry = 5e-8;

}  // namespace

double estimated_wall_s(const Point& point) {
  const Prices& prices = point.network == "smpi" ? kSmpi : kEventLoop;
  Row row;
  row.point = point;
  const Cost cost = compare(row, 0).cost;
  const double ranks = point.ranks;
  const double iterations = std::max(point.iterations, 2);
  const double messages = iterations * ranks * cost.run().high.messages;
  const double entries = point.input.statistical
                             ? 0
                             : iterations * ranks * static_cast<double>(point.k) /
                                   static_cast<double>(point.space.granule);
  const double all =
      prices.point + messages * (prices.message + prices.message_a_rank * ranks) + entries * kEntry;
  return std::isfinite(all) ? all : prices.point;  // a scheme that cannot run there
}

}  // namespace thinwire
