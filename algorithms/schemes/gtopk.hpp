// gtopk: a reduction tree that selects the k largest anew at each level, then a broadcast tree
// (Shi et al., ICDCS 2019; Ok-Topk, Table 1).
//
// Schedule: binomial tree to rank 0 (ranks from 2^s on send to rank - 2^s, for falling s); who
// receives adds what comes to its own and keeps the k largest of the sum. Then a binomial
// broadcast. What contributed are the local entries whose index is in the result, as the paper has
// it: an entry that was dropped on the way while others brought its index into the result is lost.
// Cost: 2 log P α + 4k log P β; 2 ceil(log P) messages. Exact at powers of two where every rank
// selects k and so has every sum; elsewhere all but the last γ may hide behind messages.
// Restrictions: none (the published code: powers of two). Memory: a selection a rank.
//
// Worked example: P = 8, k = 1000: 3 messages of 2000 words up, 3 down: 6 α + 12,000 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// Without a sparsifier.
[[nodiscard]] SchemeInfo gtopk_scheme();

}  // namespace thinwire::algorithms
