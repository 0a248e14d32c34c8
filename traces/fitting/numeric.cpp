#include "traces/fitting/numeric.hpp"

#include <fmt/format.h>

#include <boost/math/tools/minima.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace thinwire::traces {

double least(const std::function<double(double)>& function, double low, double high) {
  // Near a minimum a function is constant to within half of the digits.
  constexpr int kBits = std::numeric_limits<double>::digits / 2;
  return boost::math::tools::brent_find_minima(function, low, high, kBits).first;
}

double solved(const std::function<double(double)>& function, double wanted, double low,
              double high) {
  const auto off = [&](double at) { return function(at) - wanted; };
  const double at_low = off(low);
  const double at_high = off(high);
  if ((at_low < 0) == (at_high < 0)) return std::abs(at_high) < std::abs(at_low) ? high : low;
  constexpr int kBits = 45;
  std::uintmax_t most_steps = 100;
  const auto [left, right] = boost::math::tools::toms748_solve(
      off, low, high, at_low, at_high, boost::math::tools::eps_tolerance<double>(kBits),
      most_steps);
  return (left + right) / 2;
}

double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

}  // namespace thinwire::traces
