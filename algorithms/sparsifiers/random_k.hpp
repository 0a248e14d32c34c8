// random_k: k different coordinates drawn uniformly at random (Random-k: Stich, Cordonnier, Jaggi,
// NeurIPS 2018; DRAGONN, section 5.3).
//
// Every iteration draws anew. Coordinates that the accumulator does not hold are drawn like the
// others and sent with the value 0. With `shared` all ranks draw the same coordinates, as if they
// shared a seed, so there is no fill-in.
// Memory: 4 B for each of the k drawn, or of the n - k others if those are fewer.
//
// Work: k sampled (drawn and copied); no other component is read.
//
// Example: n = 10, k = 3, accumulator {2: 5, 7: -1}: drawn 1, 2 and 8, so {1: 0, 2: 5, 8: 0}.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// min(count, end) different numbers below `end`, sorted; all such sets are equally likely.
[[nodiscard]] std::vector<std::uint32_t> random_coordinates(std::int64_t count, std::int64_t end,
                                                            std::uint64_t key);
[[nodiscard]] SparsifierInfo random_k_sparsifier();

}  // namespace thinwire::algorithms
