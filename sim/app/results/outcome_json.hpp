// Converts the outcome of a point to JSON, the result of a row, and back.
#pragma once

#include "sim/app/results/outcome.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::results {

[[nodiscard]] Json to_json(const TrainingOutcome& training);
/// Times are null if the network has no clock.
[[nodiscard]] Json to_json(const Outcome& outcome, bool has_clock);
/// The machine's α and β are of the outcome, the rest of it is `given`. Throws InputError
/// that names the field.
[[nodiscard]] Outcome outcome_from(const JsonNode& node, const plan::Machine& given);

}  // namespace thinwire::results
