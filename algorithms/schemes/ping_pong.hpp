// A message to and fro, as benchmarks measure latency and bandwidth.
//
//   ping_pong  2α + 2n β    (OSU Micro-Benchmarks, osu_latency; half of it is their latency)
//
// Rank 0 sends its vector of n words to the last rank, which sends it back. The ranks between them
// have no part, so that P chooses the distance: with ranks in blocks on hosts, P = 2 is the nearest
// pair. Exact at any P from 2 on and any n; a single rank sends nothing. Ranks 0 and P-1 end with
// the vector of rank 0, and the others with an empty block.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SchemeInfo ping_pong_scheme();

}  // namespace thinwire::algorithms
