// The registry of all schemes and sparsifiers by name. To add one, write a file in
// algorithms/schemes/ or algorithms/sparsifiers/ and add a line to registry.cpp; from a program of
// your own call register_scheme() and register_sparsifier() (docs/tutorials/own-scheme.md).
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

// The tables are built once. References to their entries stay valid for the rest of the process,
// also when more entries are registered.
using Schemes = std::deque<SchemeInfo>;
using Sparsifiers = std::deque<SparsifierInfo>;

/// All schemes: the allreduces that a paper names, in the order of the papers, the other
/// collectives, and the registered ones.
[[nodiscard]] const Schemes& all_schemes();
/// The schemes of one collective, which can replace one another.
[[nodiscard]] std::vector<std::reference_wrapper<const SchemeInfo>> schemes_of(
    Collective collective);
/// All sparsifiers, followed by the registered ones.
[[nodiscard]] const Sparsifiers& all_sparsifiers();
/// Throws InputError with the nearest name when there is no such sparsifier.
[[nodiscard]] const SparsifierInfo& find_sparsifier(std::string_view name);
/// Finds a scheme by its name or by SCHEME+SPARSIFIER, a sparse scheme with another sparsifier.
/// Throws InputError with the nearest name when there is none, or when the scheme cannot carry the
/// selection of the sparsifier.
[[nodiscard]] const SchemeInfo& find_scheme(std::string_view name);

/// The names of all schemes that are so, in the order of the registry.
[[nodiscard]] std::vector<std::string> names_of_schemes(bool SchemeInfo::*are);
/// Names SCHEME+SPARSIFIER, one for each sparsifier that a sparse scheme can carry.
[[nodiscard]] std::vector<std::string> composed_names(const SchemeInfo& scheme);
/// The options of all schemes and sparsifiers, one for each name.
[[nodiscard]] std::vector<OptionInfo> all_options();

/// Adds a user's sparsifier for the rest of the process. It must be called before any look-up and
/// from one thread only, as sim/app/cli/program.hpp does. Throws InputError when the name is taken
/// or contains anything but lower case letters, digits and '_', or when `make` is missing.
void register_sparsifier(SparsifierInfo sparsifier);
/// Does the same for a scheme. A sparse one has a `collective` and needs no `make`: it is composed
/// with the sparsifier named by `scheme.sparsifier`, or with exact_topk when that is empty. Also
/// throws InputError when `run_cost` is missing or a formula of `paper` is missing or wrong.
void register_scheme(SchemeInfo scheme);

}  // namespace thinwire::algorithms
