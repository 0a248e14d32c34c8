// Suggests the known name that is nearest to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace thinwire::inline base {

/// Returns "; did you mean 'X'?" with the nearest of `known`, whatever the case and '_', "; did you
/// mean one of X, Y?" where several have the given word among theirs, "; known are A, B, C" when none is
/// near, or "; there are none".
[[nodiscard]] std::string did_you_mean(std::string_view given, std::span<const std::string> known);

}  // namespace thinwire::inline base
