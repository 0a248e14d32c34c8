// A shortcut for dense schemes that send chunk after chunk through trees: only some of the chunks
// are sent (docs/explanation/approximate.md).
//
// Once the trees are full, each further chunk takes as long as the one before. So the time is
// linear in the number of chunks. Three gradients are sent, of a half, of three quarters and of all
// of `approximate` chunks, of the length that they have in the whole gradient. The first and the
// last give the time of all; the one between tells whether the line is straight.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/app/results/outcome.hpp"

namespace thinwire::run {

/// A point whose gradient has fewer chunks, of which it sends one iteration.
struct ShorterPoint {
  plan::Point point;
  std::int64_t chunks = 0;
};

/// The points of an extrapolation, of ascending numbers of chunks.
struct Extrapolation {
  std::vector<ShorterPoint> points;
  algorithms::Pipeline all;  ///< of the point itself
};

/// The extrapolation that the point asks for, on its machine as it is known at run time. Nothing if
/// it asks for none, if the shorter points would have as many chunks as the point itself, or if
/// nothing goes through trees there (one rank; NCCL's tuner takes rings): then everything is sent.
[[nodiscard]] std::optional<Extrapolation> extrapolation_of(const plan::Point& point,
                                                            const plan::Machine& machine);
/// The outcome of the point from outcomes of shorter ones: times, messages and words. Throws
/// SimulationError if times, also on the α-β machine, are not on a straight line.
[[nodiscard]] results::Outcome extrapolated(const plan::Point& point, const Extrapolation& how,
                                            const std::vector<results::Outcome>& outcomes);
/// The share of the point's messages that are simulated: 1 without an extrapolation.
[[nodiscard]] double simulated_share(const plan::Point& point, const plan::Machine& machine);

}  // namespace thinwire::run
