// The schemes that gather: every rank gets every rank's selection and sums them itself.
//
//   topka       exact top-k, recursive doubling (Ok-Topk, Table 1, TopkA; Renggli et al., SC 2019)
//   gaussiank   the same after an exchange of sizes, with a Gaussian fit (Ok-Topk, Table 1)
//   topk_exact, dgc, random_k
//               around a ring, decoded densely, as DRAGONN (ICML 2022) compares itself with them
//
// Schedule: an allgather of COO entries (recursive doubling, or dissemination where P is no power
// of two; or a ring); then each rank adds the P vectors up, which is charged to it with γ a word
// and computed once by the simulator: k (P-1) words where they are merged, n P where each is
// scattered into a dense vector and those are added (`sparse_decoding` false).
// Cost: log P α + 2k (P-1) β, around a ring (P-1) α + 2k (P-1) β. Exact at any P where every rank
// selects k, with ceil(log P) messages. The sizes of gaussiank are ceil(log P) α, which the paper
// counts, and P-1 words, which it leaves out.
// Restrictions: none. Memory: the selections, and one sum for all ranks.
//
// Worked example: topka, P = 8, k = 1000: 3 messages and 2 · 1000 · 7 = 14,000 words a rank.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// How a gather goes.
struct GatherStyle {
  bool ring = false;            ///< else recursive doubling
  bool sizes = false;           ///< exchanges sizes first
  bool sparse_decoding = true;  ///< default of the option
};

/// A scheme that gathers, by name; without a sparsifier.
[[nodiscard]] SchemeInfo gather_scheme(std::string name, GatherStyle style);

/// What each sender's entries cost that are scattered into a vector of its own, which is added, at
/// `word` seconds a component: kernels that are launched while the ones before them run.
[[nodiscard]] Seconds dense_decoding(const WorkPrices& prices, Seconds word,
                                     std::int64_t components, int senders);

}  // namespace thinwire::algorithms
