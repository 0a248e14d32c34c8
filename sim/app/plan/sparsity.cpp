#include "sim/app/plan/sparsity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "sim/core/base/checked.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::plan {

namespace {

/// The entries that all ranks together may hold before a coordinate is several components.
constexpr double kCarriedEntries = 1 << 25;
/// The entries that a region of a rank's selection should keep, so that regions can be balanced.
constexpr double kEntriesPerRegion = 4;

std::int64_t power_of_two_below(double x) {
  return x < 2 ? 1 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(x)));
}

std::int64_t power_of_two_above(double x) {
  return x <= 1
             ? 1
             : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(x))));
}

/// The smallest power of two for which 32 bits can number the coordinates.
std::int64_t granule_of_coordinates(const Point& point) {
  return power_of_two_above(static_cast<double>(point.space.components) /
                            static_cast<double>(UINT32_MAX));
}

/// The smallest power of two for which the entries of all ranks fit, provided that a rank's
/// selection keeps some entries for each region.
std::int64_t automatic_granule(const Point& point) {
  const bool dense = point.scheme->dense;
  const auto held = static_cast<double>(dense ? point.space.components : point.k);
  std::int64_t granule = power_of_two_above(held * point.ranks / kCarriedEntries);
  if (!dense) {
    const double most = static_cast<double>(point.k) / (kEntriesPerRegion * point.data_ranks());
    granule = std::min(granule, power_of_two_below(most));
  }
  return std::max(granule, granule_of_coordinates(point));
}

/// Checks that tensors fill the gradient and that each begins at a granule boundary.
void check_tensors(Point& point, bool automatic, const std::string& origin) {
  if (point.tensors.empty()) return;
  const auto total = checked_sum(point.tensors);
  if (total != point.space.components) {
    throw InputError("{}: /tensors: they have {} components together, but there are {}", origin,
                     total ? std::to_string(*total) : "more than 2^63", point.space.components);
  }
  std::int64_t& granule = point.space.granule;
  for (std::size_t i = 0; i + 1 < point.tensors.size(); ++i) {
    if (automatic) granule = std::gcd(granule, point.tensors[i]);
    if (point.tensors[i] % granule != 0) {
      throw InputError("{}: /granule: {} does not divide tensor {} of {} components", origin,
                       granule, i, point.tensors[i]);
    }
  }
}

/// Settles how many components a carried coordinate stands for.
void set_granule(Point& point, const Request& request) {
  const std::string& where = request.where();
  const Json* const given = request.find("granule");
  const bool automatic = given == nullptr || given->is_string();
  if (point.input.statistical) {
    point.space.granule = granule_of_coordinates(point);
    if (given != nullptr && *given != point.space.granule) {
      throw InputError("{}: /granule: statistical values need no granules; leave it out", where);
    }
  } else if (!automatic) {
    point.space.granule = given->get<std::int64_t>();
    if (point.space.granule > point.space.components) {
      throw InputError("{}: /granule: {} is more than the {} components that there are", where,
                       point.space.granule, point.space.components);
    }
  } else {
    point.space.granule = point.input.trace.empty() ? automatic_granule(point) : 1;
  }
  check_tensors(point, automatic, where);
  if (point.space.coordinates() > static_cast<std::int64_t>(UINT32_MAX)) {
    throw InputError(
        "{}: /granule: {} components need a granule of {} at least{}", where,
        point.space.components, granule_of_coordinates(point),
        automatic && !point.tensors.empty() ? ", and none of that size divides all tensors" : "");
  }
}

}  // namespace

Sparsity set_sparsity(Point& point, const Request& request, double density) {
  const auto n = static_cast<double>(point.space.components);
  const Json* const given = request.find("density");
  if (given != nullptr) density = given->get<double>();
  // Without a density, a trace has its own k.
  if (const Json* const k = request.find("k")) {
    point.k = k->get<std::int64_t>();
  } else if (given != nullptr || point.input.trace.empty()) {
    point.k = std::llround(density * n);
  }
  if (request.has("k") || (given == nullptr && !point.input.trace.empty())) {
    density = static_cast<double>(point.k) / n;
  }
  if (point.k > point.space.components) {
    throw InputError("{}: /k: {} is more than the {} components that there are", request.where(),
                     point.k, point.space.components);
  }
  set_granule(point, request);
  const std::int64_t asked = point.k;
  point.k -= point.k % point.space.granule;
  if (point.k == 0 && asked > 0 && !point.scheme->dense && request.has("k")) {
    throw InputError(
        "{}: /k: {} are fewer than the {} components of a carried coordinate; give {} or more, or "
        "fewer components, or a smaller 'granule' where one is given",
        request.where(), asked, point.space.granule, point.space.granule);
  }
  return {.k = point.k, .density = density, .asked = asked};
}

}  // namespace thinwire::plan
