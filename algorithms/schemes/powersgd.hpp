// PowerSGD: the gradient's matrices are summed as two factors of low rank (Vogels, Karimireddy and
// Jaggi, NeurIPS 2019, arXiv:1905.13727, Algorithm 1). The paper's text was not at hand: the schedule
// follows its published code (epfml/powersgd, gradient_reducers.py, RankKReducer).
//
// Schedule, with the matrices M of each rank, and one query Q of r columns that all ranks share:
//   1. each rank multiplies P = M Q;
//   2. an allreduce sums all P, and the vectors (biases), which are not approximated. The published
//      code has an allreduce of their own for these, beside the orthogonalisation; ours saves it;
//   3. every rank makes the columns of P orthonormal, with the same result;
//   4. each rank multiplies Q = M^T P;
//   5. an allreduce sums all Q;
//   6. every rank multiplies P Q^T, the sum of the gradients projected on the columns of P.
// Q is the query of the next iteration (`warm_start`), so that the iterations form a power method;
// the first query is drawn, and without warm start each one is. Both allreduces are
// Rabenseifner's; the paper names none.
// A rank's contribution, for error feedback, is a P-th of P Q^T, and its own vectors, as in the
// published code.
// Matrices: algorithms/low_rank.hpp says which; a model's file has the rows of its tensors.
//
// Cost with p words of P and vectors and q words of Q: 4 log P α + 2 (p + q) (P-1)/P β, and half of
// these words γ. For one tensor of n components, p = q = r ceil(sqrt(n)), r at most ceil(sqrt(n)).
// Exact at powers of two; else an interval, as ranks leave the first allreduce one after another.
// Work: at a device's prices, three products (steps 1, 4 and 6) and the orthogonalisation; in a
// training also what error feedback reads and writes, which `workload.feedback` chooses.
// Values: there are exact ones with granule 1. With a larger granule, as with statistical gradients,
// messages and times are the same, but there are no values.
// Restrictions: none. Memory: 2n values a rank, and the factors.
//
// Worked example: P = 4, n = 10,000, rank 2: a square of 100; P and Q have 200 words, 2 (2 α + 150 β)
// each, 8 α + 600 β together, where dense takes 4 α + 15,000 β.
#pragma once

#include <cstdint>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// Seeds the query that all ranks draw in an iteration.
[[nodiscard]] std::uint64_t powersgd_query_seed(std::uint64_t seed, int iteration);

[[nodiscard]] SchemeInfo powersgd_scheme();

}  // namespace thinwire::algorithms
