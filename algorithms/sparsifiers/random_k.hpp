// random_k: k coordinates drawn at random, all alike likely and all different (Random-k: Stich,
// Cordonnier, Jaggi, NeurIPS 2018; DRAGONN, section 5.3).
//
// Every iteration draws anew. Coordinates that the accumulator does not hold are drawn like the
// others and travel with the value 0. With `shared` all ranks draw the same coordinates, as they do
// who share a seed, so there is no fill-in.
// Memory: 4 B for each of the k drawn, or of the n - k left out where those are fewer.
//
// Work: scanned k (copied); nothing else looks at a component.
//
// Example: n = 10, k = 3, accumulator {2: 5, 7: -1}: drawn 1, 2 and 8, so {1: 0, 2: 5, 8: 0}.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// min(count, end) different numbers below `end`, in order; each set of so many is alike likely.
[[nodiscard]] std::vector<std::uint32_t> random_coordinates(std::int64_t count, std::int64_t end,
                                                            std::uint64_t key);
[[nodiscard]] SparsifierInfo random_k_sparsifier();

}  // namespace thinwire::algorithms
