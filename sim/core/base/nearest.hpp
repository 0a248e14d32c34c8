// The name that somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace thinwire::inline base {

/// "; did you mean 'X'?" with the nearest of `known`, or "; known are A, B, C" where none is near,
/// or "; there are none".
[[nodiscard]] std::string did_you_mean(std::string_view given, std::span<const std::string> known);

}  // namespace thinwire::inline base
