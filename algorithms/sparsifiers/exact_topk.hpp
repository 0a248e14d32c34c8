// exact_topk: exactly the k entries of largest magnitude; of equal ones those of lower coordinate.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo exact_topk_sparsifier();

}  // namespace thinwire::algorithms
