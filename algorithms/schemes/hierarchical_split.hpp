// hierarchical_split_allgather: SparCML's ssar_split_allgather for nodes of several ranks. The
// selections of a node are added first, and each rank of it carries one part of the sum between
// nodes.
//
// This composition is ours, of SSAR_Split_allgather (SparCML, SC 2019, section 5.3.2) and the two
// levels of BlueConnect (MLSys 2019). The result and the contributions are those of
// ssar_split_allgather and topka: the sum of all selections.
//
// Schedule, for nodes as in algorithms/collectives/hierarchical.hpp, with g ranks and R rails, and m
// nodes:
//   split_in_node      region i of R of the selection to rank i of the node, by direct exchange,
//                      which sums it
//   split_along_rails  of the ranks i of all nodes, each sums one of m parts of region i
//   allgather_along_rails, allgather_in_node  by recursive doubling
// Cost, from equal selections to such without a common index:
//   split_in_node          (g - 1) α + 2k (g-1)/g β
//   split_along_rails      (m - 1) α + [2k/g, 2k] (m-1)/m β
//   allgather_along_rails  log m α + [2k/g (m-1)/m, 2k (m-1)] β
//   allgather_in_node      log g α + [2k (g-1)/g, 2k P (g-1)/g] β
// Between nodes a rank sends at most k entries, and at most those that the node has in its part; of
// ssar_split_allgather k (P-g)/P. It takes g + m - 2 messages in place of P - 1.
// Restrictions: none. Concentrated selections take longer, up to the upper end of the interval.
// Streams never become dense. Memory: as ssar_split_allgather.
//
// Worked example: P = 8, node = 4, k = 800 with equal indexes: 3 messages of 200 entries, 1 of 100,
// 1 of 100, and 2 messages of 200 and 400: 7 α + 2800 β; 4k (P-1)/P = 2800.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// Without a sparsifier.
[[nodiscard]] SchemeInfo hierarchical_split_scheme();

}  // namespace thinwire::algorithms
