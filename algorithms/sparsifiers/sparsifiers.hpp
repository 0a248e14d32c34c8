// The sparsifiers that offer nothing but their description; one with more to offer has a header of
// its own. The file of each begins with what it selects and what that costs, and an example.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo bucket_topk_sparsifier();
[[nodiscard]] SparsifierInfo exact_topk_sparsifier();
[[nodiscard]] SparsifierInfo micro_sparsifier();
[[nodiscard]] SparsifierInfo sidco_sparsifier();

}  // namespace thinwire::algorithms
