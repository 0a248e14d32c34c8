// The schemes that gather: every rank receives all selections and sums them itself.
//
//   topka       exact top-k, recursive doubling (Ok-Topk, Table 1, TopkA; Renggli et al., SC 2019)
//   gaussiank   the same after an exchange of sizes, with a Gaussian fit (Ok-Topk, Table 1)
//   topk_exact, dgc, random_k
//               around a ring, decoded densely: the baselines of DRAGONN (ICML 2022)
//
// Schedule: an allgather of COO entries (recursive doubling, or dissemination if P is not a power
// of two; or a ring); then each rank adds the P vectors, which is charged to it with γ per word and
// computed once by the simulator: k (P-1) words if they are decoded together, n P if each is
// scattered into a dense vector and those are added (`sparse_decoding` false). On a device both
// first set a dense vector to zero, the latter one per sender, and scattering is paid too.
// Cost: log P α + 2k (P-1) β, around a ring (P-1) α + 2k (P-1) β. Exact at any P if every rank
// selects k, with ceil(log P) messages. The sizes of gaussiank take ceil(log P) α, which the paper
// counts, and P-1 words, which it omits.
// Restrictions: none. Memory: the selections, and one sum for all ranks.
//
// Worked example: topka, P = 8, k = 1000: 3 messages and 2 · 1000 · 7 = 14,000 words per rank.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The variant of a gather.
struct GatherStyle {
  bool ring = false;            ///< a ring instead of recursive doubling
  bool sizes = false;           ///< sizes are exchanged first
  bool sparse_decoding = true;  ///< default of the option
};

/// A scheme that gathers, by name, without a sparsifier.
[[nodiscard]] SchemeInfo gather_scheme(std::string name, GatherStyle style);

}  // namespace thinwire::algorithms
