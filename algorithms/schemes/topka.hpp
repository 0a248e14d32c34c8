// topka: allgather of every rank's exact local top-k, summed by each rank (Ok-Topk, Table 1;
// Renggli et al., SC 2019; Shi et al.).
//
// Schedule: one allgather of COO entries (recursive doubling, or dissemination where P is no power
// of two); then each rank adds the P vectors up, which is charged to it with γ a word and computed
// once by the simulator.
// Cost: log P α + 2k (P-1) β. Exact at any P where every rank selects k, with ceil(log P) messages;
// nothing is left out.
// Restrictions: none. Memory: the selections, and one sum for all ranks.
//
// Worked example: P = 8, k = 1000: 3 messages and 2 · 1000 · 7 = 14,000 words a rank.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire {

[[nodiscard]] SchemeInfo topka_scheme();

}  // namespace thinwire
