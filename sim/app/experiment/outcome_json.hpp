// Converts the outcome of a point to JSON, the result of a row, and back.
#pragma once

#include "sim/app/experiment/run.hpp"

namespace thinwire::experiment {

/// Times are null if the network has no clock.
[[nodiscard]] Json to_json(const Outcome& outcome, bool has_clock);
/// The machine's α and β are read from the outcome, its other parameters are those of `given`.
/// Throws what Json throws, and InputError.
[[nodiscard]] Outcome outcome_from(const Json& json, const Machine& given);

}  // namespace thinwire::experiment
