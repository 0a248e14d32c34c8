// Dense allreduces for nodes of several ranks: a binomial tree inside each node, to its leader and
// back, and a flat allreduce among the leaders.
//
//   hierarchical_ring         among leaders dense_ring
//   hierarchical_rabenseifner among leaders dense_rabenseifner
//
// Jia et al., "Highly scalable deep learning training system with mixed-precision: training
// ImageNet in four minutes" (arXiv:1807.11205, 2018), section on hierarchical all-reduce, there
// with rings inside the groups, 4 (g - 1) + 2 (P/g - 1) steps for groups of g; also the first
// hierarchical allreduce of Horovod (2018). Here g is the option `node`, and trees reduce that to 2
// ceil(log g) + 2 (P/g - 1) steps.
//
// Schedule: algorithms/collectives/hierarchical.hpp. Node i has ranks [i g, (i + 1) g), as `block`
// placement puts them on hosts; the last may have fewer.
// Cost, m = ceil(P/g) nodes:
//   reduce_in_node and broadcast_in_node  ceil(log g) (α + nβ) each
//   among_leaders                         that of the flat scheme with m ranks
// (with P for g if all ranks are in one node). On one level of network this is slower than the flat
// schemes for long gradients, since the whole gradient moves 2 ceil(log g) times; it pays off if
// nodes are much faster inside, or if 2 (m - 1) messages instead of 2 (P - 1) matter.
// Exact with the added terms, if the flat scheme is exact at m and the last node's
// tree is as high as the others'. Otherwise the last leader is ready early, and the pieces on the
// path of the others may be the shorter ones.
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 800, P = 8, node = 4, ring: 2 messages and 1600 words to the leaders, the
// same back, and 2 messages of 400 words among 2 leaders: 6 α + 4000 β. Flat: 14 α + 1400 β.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> hierarchical_schemes();

}  // namespace thinwire::algorithms
