// All schemes and sparsifiers by name. To add one: a file in algorithms/schemes/ or
// algorithms/sparsifiers/, and a line in registry.cpp; or, from a program of your own,
// register_scheme() and register_sparsifier() (docs/tutorial-own-scheme.md).
#pragma once

#include <string_view>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// Every scheme that a paper names, in the order of the papers, and then what was registered.
[[nodiscard]] std::vector<SchemeInfo> all_schemes();
/// Every sparsifier, and then what was registered.
[[nodiscard]] std::vector<SparsifierInfo> all_sparsifiers();
/// Throws InputError with the nearest name where there is no such sparsifier.
[[nodiscard]] SparsifierInfo find_sparsifier(std::string_view name);
/// A scheme by its name, or SCHEME+SPARSIFIER: a sparse scheme with another sparsifier. Throws
/// InputError with the nearest name where there is no such thing, or where the scheme cannot carry
/// what the sparsifier selects.
[[nodiscard]] SchemeInfo find_scheme(std::string_view name);

/// Adds a sparsifier that is not Thinwire's, for the rest of the process. To be called before
/// anything looks one up, and not by two threads at once: sim/app/cli/program.hpp does. Throws
/// InputError where the name is taken, is not of lower case letters, digits and '_', or `make` is
/// missing.
void register_sparsifier(SparsifierInfo sparsifier);
/// The same for a scheme. A sparse one has a `collective` and needs no `make`: it is composed with
/// the sparsifier that `scheme.sparsifier` names, exact_topk where that is empty. Throws InputError
/// also where `run_cost` or a formula of `paper` is missing or wrong.
void register_scheme(SchemeInfo scheme);

}  // namespace thinwire::algorithms
