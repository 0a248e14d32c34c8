// A shortcut for dense schemes that send chunk after chunk through trees: only some of the chunks
// are sent (docs/representatives.md).
//
// Once the trees are full, each further chunk takes as long as the one before. So the time is linear
// in the number of chunks, and the times of two gradients, of half of `extrapolate_chunks` and of so
// many chunks of the same length, give that of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/experiment/point.hpp"
#include "sim/app/experiment/run.hpp"

namespace thinwire::experiment {

/// Throws InputError, which begins with `origin`, if the point asks for an extrapolation that its
/// scheme or its other settings do not allow.
void check_extrapolation(const Point& point, const algorithms::SchemeInfo& scheme,
                         const std::string& origin);

/// A point whose gradient has fewer chunks, of which it sends one iteration.
struct ShorterPoint {
  Point point;
  std::int64_t chunks = 0;
};

/// The two points of an extrapolation.
struct Extrapolation {
  ShorterPoint few;
  ShorterPoint more;
  std::int64_t chunks = 0;  ///< of the point itself
};

/// The extrapolation that the point asks for, on its machine as it is known at run time; nothing if
/// it asks for none, or has no more chunks. Throws InputError where nothing goes through trees.
[[nodiscard]] std::optional<Extrapolation> extrapolation_of(const Point& point,
                                                            const Machine& machine);
/// The outcome of the point from those of the shorter ones: times, messages and words.
[[nodiscard]] Outcome extrapolated(const Point& point, const Extrapolation& how, const Outcome& few,
                                   const Outcome& more);
/// The share of the point's messages that are simulated: 1 without an extrapolation.
[[nodiscard]] double simulated_share(const Point& point);

}  // namespace thinwire::experiment
