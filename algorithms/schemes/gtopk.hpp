// gtopk: a reduction tree that selects the k largest entries again at each level, then a broadcast
// tree (Shi et al., ICDCS 2019; Ok-Topk, Table 1).
//
// Schedule: binomial tree to rank 0 (ranks from 2^s on send to rank - 2^s, for falling s); the
// receiver adds the message to its own vector and keeps the k largest of the sum. Then a binomial
// broadcast. The local entries whose index is in the result count as contributed, as in the paper:
// an entry that was dropped on the way is lost when others brought its index into the result.
// Cost: 2 log P α + 4k log P β; 2 ceil(log P) messages. Exact at powers of two if every rank
// selects k and every sum has k; at other P all but the last γ may hide behind messages.
// Restrictions: none (the published code: powers of two). Memory: one selection per rank.
//
// Worked example: P = 8, k = 1000: 3 messages of 2000 words up, 3 down: 6 α + 12,000 β.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// The scheme without a sparsifier.
[[nodiscard]] SchemeInfo gtopk_scheme();

}  // namespace thinwire::algorithms
