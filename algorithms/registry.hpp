// All schemes by name. To add one: a file in algorithms/schemes/, and a line in registry.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire {

[[nodiscard]] std::vector<SchemeInfo> all_schemes();
/// Throws InputError with the nearest name where there is no such scheme.
[[nodiscard]] SchemeInfo find_scheme(std::string_view name);

}  // namespace thinwire
