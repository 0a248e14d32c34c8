// exact_topk: exactly the k entries of largest magnitude; the lower coordinate wins a tie.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo exact_topk_sparsifier();

}  // namespace thinwire::algorithms
