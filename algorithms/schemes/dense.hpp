// The dense allreduces, which send everything and select nothing.
//
//   dense_rabenseifner        2 log P α + 2n (P-1)/P β     (Ok-Topk, Table 1, row Dense)
//   dense_ring                2 (P-1) α + 2n (P-1)/P β     (SparCML, section 5.3; NCCL's ring)
//   dense_recursive_doubling  log P α + n log P β          (Thakur et al., IJHPCA 2005)
//   dense_ring_segmented      (S+1) (P-1) α + 2n (P-1)/P β (Open MPI's ring_segmented)
//   dense_nonoverlapping      2 log P α + 2n log P β       (Open MPI's nonoverlapping)
//
// S = max(1, n / (P segment)), rounded, with segments of segment_bytes / 4 words.
// Exact at any P and n with the added terms (where ranks fold in and pieces differ in length,
// dense_rabenseifner's γ term is an interval). With p the largest power of two ≤ P:
//   - The pieces of a cut differ by one word if P (p for rabenseifner) does not divide n. In the
//     ring the longest piece is on the critical path in each step, so a step costs
//     α + ceil(n/P) β; in recursive halving rank 0's piece is the longest in each step, so the path
//     carries twice the sum over j >= 1 of the first p/2^j pieces.
//   - P > p folds in: 2 (α + nβ) more, and p in place of P.
//   - dense_ring_segmented is an interval where P S does not divide n, since the segments' rings
//     follow one another without waiting; dense_nonoverlapping, in γ, where P is no power of two.
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 10, P = 4, rabenseifner: pieces 3, 3, 2, 2; path 2 (6 + 3) = 18 words and 4
// messages; the table gives 2 · 10 · 3/4 = 15, so the added term is 3 words.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> dense_schemes();

/// What a rank does with its whole vector; returns the vector that it ends with.
using DenseSchedule =
    std::function<Task<Message>(Communicator&, Message whole, const GradientReduction&)>;
/// A dense collective that runs a schedule in a phase of this name, after `preparing`.
[[nodiscard]] std::unique_ptr<Scheme> dense_collective(const SchemeSetup& setup, std::string phase,
                                                       DenseSchedule schedule,
                                                       Seconds preparing = {});

/// Whether Rabenseifner's allreduce of `words` words has a single cost for any γ: at powers of two,
/// and where the pieces are of one length.
[[nodiscard]] bool rabenseifner_is_exact(int ranks, std::int64_t words);
/// The cost of Rabenseifner's allreduce of so many components, including remainders and folding in.
/// Schemes that also send entries give the precision; for dense ones SchemeInfo::cost() scales.
[[nodiscard]] Interval rabenseifner_terms(int ranks, std::int64_t components,
                                          Precision precision = {});
/// The cost of an allreduce of `words` words around a ring, including remainders.
[[nodiscard]] Interval ring_terms(int ranks, std::int64_t words);

/// A cost with a single value: the paper's formula at P, and the terms on the critical path of a
/// run.
[[nodiscard]] Cost exact_cost(Terms paper, Terms run);
/// A cost that is exact only where both ends are equal.
[[nodiscard]] Cost interval_cost(Terms paper, Interval run);

}  // namespace thinwire::algorithms
