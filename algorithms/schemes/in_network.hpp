// A dense allreduce whose sums are made by switches: NVLink SHARP (NCCL's NVLS) inside nodes, and
// InfiniBand SHARP (NCCL's CollNet) between them.
//
// The gradient is cut into C chunks, and a chunk into R pieces, one for each rank of the smallest
// node. Three stages follow one another for a chunk and run at the same time for three chunks:
//   in_node_sum     the node's switch sums the chunks of its ranks, and rank i < R receives piece i
//   between_nodes   rail i, rank i of each node, sums its piece: the switches between nodes do, or,
//                   where they do not sum, a ring
//   in_node_copies  rank i < R sends the sum to the node's switch, which hands it to all ranks
// Step s has the first stage of chunk s, the second of chunk s-1 and the third of chunk s-2, and the
// next step begins when all three have ended. With one node there is no second stage.
//
// Where the switches of nodes do not sum, the whole gradient takes the schedule of
// allreduce_over_rails (collectives/hierarchical.hpp), with the switches between nodes as the sum of
// each rail. With one rank per node this is the switches' sum and nothing else: one message.
//
// Cost on the α-β machine, with G ranks of a node, M nodes, a piece of l = n/(C R) words, R = G, and
// switches that take s:
//   one node            2C α + (2n/C + (C-1) (1 + 1/G) n/C) β + (C+1) s
//   nodes               the sum over the C+2 steps of: α for each of its stages, s, and β times the
//                       words that a port carries: in one direction n/C + l + l, if it has all three
//   one rank per node   α + n β + s
// On network `links` a step takes the latency of the switches' trees, which is 0 above, and the rails
// have links of their own. Sums in switches take no γ.
// Exact where C R divides n, node divides P, all sums are in switches, and the switches of both levels
// take the same s. The bandwidth of a slower switch takes the place of the ports'.
// Restrictions: the platform must have switches that sum. Memory: n words per rank.
//
// Worked example: n = 32, P = 4 on one node, C = 2: chunks of 16, pieces of 4. Steps: 16 words; 16 +
// 4 and two messages; 16. Together 4 α + 52 β + 3 s.
#pragma once

#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SchemeInfo in_network_scheme();

/// What NCCL's tuner expects of sums in switches: the latencies of its table (2.19, tuning.cc: 25 µs
/// on NVLink, and 18 µs on the network), and a gradient of `words` words at the bandwidth of the
/// switches. Infinite where it does not take them: between nodes it needs both kinds of switches.
[[nodiscard]] Seconds in_network_tuner_time(const ReducingSwitches& switches, Nodes nodes,
                                            std::int64_t words, Seconds beta_per_word);

}  // namespace thinwire::algorithms
