// cltk: cyclic local top-k (Chen et al., ScaleCom, NeurIPS 2020; ExDyna, section III). One rank,
// the leader, selects while the others wait; its indexes are broadcast, and then all ranks add
// their values there.
//
// Schedule of iteration t: rank (t-1) mod P selects; binomial broadcast of its k indexes, one word
// each; Rabenseifner's allreduce of the k values.
// Cost: ceil(log P) (α + kβ) + 2 log P α + 2k (P-1)/P β; exact at powers of two.
// Restrictions: none. Memory: k indexes and values per rank.
//
// Worked example: P = 4, k = 1000: 2 α + 2000 β for the indexes, 4 α + 1500 β for the values.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The scheme without a sparsifier.
[[nodiscard]] SchemeInfo cltk_scheme();

}  // namespace thinwire::algorithms
