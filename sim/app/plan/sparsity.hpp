// How many components each rank selects, and how many a carried coordinate stands for.
#pragma once

#include "sim/app/plan/point.hpp"
#include "sim/app/plan/request.hpp"

namespace thinwire::plan {

/// The density if neither the request nor a model or a profile gives one.
inline constexpr double kDensity = 0.01;

/// What each rank selects of the gradient.
struct Sparsity {
  std::int64_t k = 0;  ///< components, a multiple of the granule
  double density = 0;  ///< k/n, as it was asked for
  /// Components that were asked for, of which k is the next lower multiple.
  std::int64_t asked = 0;

  /// Whether k is more than 1% below what was asked for.
  [[nodiscard]] bool is_rounded() const { return 100 * (asked - k) > asked; }
};

/// Sets k by the request, or by the trace, of which `point` has it, or by `density`, which holds
/// where the request gives none; and the granule. Throws InputError for
/// values that do not fit the gradient, and for a k that would become 0.
Sparsity set_sparsity(Point& point, const Request& request, double density);

}  // namespace thinwire::plan
