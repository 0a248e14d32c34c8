// All schemes and sparsifiers by name. To add one: a file in algorithms/schemes/ or
// algorithms/sparsifiers/, and a line in registry.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire {

/// Every scheme that a paper names, in the order of the papers.
[[nodiscard]] std::vector<SchemeInfo> all_schemes();
[[nodiscard]] std::vector<SparsifierInfo> all_sparsifiers();
/// Throws InputError with the nearest name where there is no such sparsifier.
[[nodiscard]] SparsifierInfo find_sparsifier(std::string_view name);
/// A scheme by its name, or SCHEME+SPARSIFIER: a sparse scheme with another sparsifier. Throws
/// InputError with the nearest name where there is no such thing, or where the scheme cannot carry
/// what the sparsifier selects.
[[nodiscard]] SchemeInfo find_scheme(std::string_view name);

}  // namespace thinwire
