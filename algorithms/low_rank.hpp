// Low-rank approximation of a gradient whose tensors are matrices: M ≈ P Q^T with P of r columns that
// are orthonormal (PowerSGD: Vogels, Karimireddy, Jaggi, NeurIPS 2019, Algorithm 1).
//
// A tensor of which the number of rows is known is that matrix, row by row, and with one row or one
// column it is a vector, which is not approximated. Where it is not known, a tensor is padded with
// zeros to a square of side ceil(sqrt(size)), as PyTorch's batched_powerSGD_hook does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::algorithms {

/// A tensor that is approximated, and where its factors lie in the buffers of all factors.
struct FactoredMatrix {
  std::int64_t first = 0;       ///< component of the gradient
  std::int64_t components = 0;  ///< rows times columns, or less: the rest is 0
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t rank = 0;     ///< columns of P and of Q: at most rows and columns
  std::int64_t p_first = 0;  ///< P, row by row, in the buffer of all P
  std::int64_t q_first = 0;  ///< Q, row by row, in the buffer of all Q
};

/// A tensor that is not approximated.
struct PlainVector {
  std::int64_t first = 0;
  std::int64_t components = 0;
  std::int64_t p_first = 0;  ///< in the buffer of all P, after them
};

/// The factors of a gradient.
struct LowRankLayout {
  std::vector<FactoredMatrix> matrices;
  std::vector<PlainVector> vectors;
  std::int64_t p_words = 0;  ///< of all P, and of the vectors
  std::int64_t q_words = 0;
};

/// `tensors`: components of each, empty if the n components are one tensor; `rows`: of each tensor,
/// empty if they are not known.
[[nodiscard]] LowRankLayout low_rank_layout(std::int64_t n, std::span<const std::int64_t> tensors,
                                            std::span<const std::int64_t> rows, std::int64_t rank);

/// The buffer of all P = M Q, and of the vectors.
[[nodiscard]] std::vector<float> left_factors(const LowRankLayout& layout,
                                              std::span<const float> gradient,
                                              std::span<const float> q);
/// The buffer of all Q = M^T P.
[[nodiscard]] std::vector<float> right_factors(const LowRankLayout& layout,
                                               std::span<const float> gradient,
                                               std::span<const float> p);
/// P with columns orthonormal by Gram-Schmidt. A column that depends on earlier columns,
/// up to rounding, becomes 0; the published code keeps what rounding left of it.
[[nodiscard]] std::vector<float> orthonormal(const LowRankLayout& layout, std::span<const float> p);
/// The matrices P Q^T times `scale`, as a gradient of n components. The vectors are those in `p`.
[[nodiscard]] std::vector<float> product_of_factors(const LowRankLayout& layout, std::int64_t n,
                                                    std::span<const float> p,
                                                    std::span<const float> q, double scale);
/// The first Q: draws of a normal distribution, the same on all ranks.
[[nodiscard]] std::vector<float> drawn_query(const LowRankLayout& layout, std::uint64_t seed);
/// Q for the next iteration, from the last one. Columns of zeros would stay
/// zeros, so they are drawn anew.
[[nodiscard]] std::vector<float> reused_query(const LowRankLayout& layout,
                                              std::span<const float> last, std::uint64_t seed);

/// The time of one product of each matrix and a factor, or of both factors. At low ranks
/// memory bounds it: the matrix and both factors are read or written once, at the price of `scan`.
[[nodiscard]] Seconds product_time(const LowRankLayout& layout, const WorkPrices& prices);
/// The time of orthonormal(), by the operators of the published code: a column is squared, summed
/// and divided by the root; its products with the later columns are summed, multiplied with it, and
/// subtracted. Each reads and writes at the price of `scan`.
[[nodiscard]] Seconds orthonormal_time(const LowRankLayout& layout, const WorkPrices& prices);

}  // namespace thinwire::algorithms
