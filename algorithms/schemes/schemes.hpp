// The schemes that offer nothing but their description; a scheme with more to offer has a header of
// its own. The file of each begins with its schedule, cost and restrictions, and a worked example.
// Schemes that select have no sparsifier here: registry.cpp puts the two together.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> allgather_schemes();
[[nodiscard]] std::vector<SchemeInfo> alltoall_schemes();
[[nodiscard]] std::vector<SchemeInfo> hierarchical_schemes();
[[nodiscard]] std::vector<SchemeInfo> quantised_schemes();
[[nodiscard]] std::vector<SchemeInfo> reduce_scatter_schemes();
[[nodiscard]] SchemeInfo cltk_scheme();
[[nodiscard]] SchemeInfo dense_double_tree_scheme();
[[nodiscard]] SchemeInfo gtopk_scheme();
[[nodiscard]] SchemeInfo hierarchical_split_scheme();
[[nodiscard]] SchemeInfo omnireduce_scheme();
[[nodiscard]] SchemeInfo ping_pong_scheme();
[[nodiscard]] SchemeInfo spardl_scheme();
[[nodiscard]] SchemeInfo sparseloco_scheme();
[[nodiscard]] SchemeInfo zen_scheme();

}  // namespace thinwire::algorithms
