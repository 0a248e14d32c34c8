// PowerSGD as a serial program in double precision, of the sum of the ranks' gradients as one matrix.
// It projects the matrix M on the columns of M Q with the normal equations, and makes no column
// orthonormal: where a basis is, does not matter for the projection.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/low_rank.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/schemes/powersgd.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::test {

/// Row by row.
struct Matrix {
  std::size_t rows;
  std::size_t columns;
  std::vector<double> values = std::vector<double>(rows * columns);

  double& operator()(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double operator()(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }
};

[[nodiscard]] inline Matrix times(const Matrix& a, const Matrix& b) {
  Matrix product{a.rows, b.columns};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.columns; ++k) {
      for (std::size_t j = 0; j < b.columns; ++j) product(i, j) += a(i, k) * b(k, j);
    }
  }
  return product;
}

[[nodiscard]] inline Matrix transposed(const Matrix& a) {
  Matrix result{a.columns, a.rows};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
  }
  return result;
}

/// X of G X = B for a symmetric G that is not negative; unknowns that others determine are 0.
[[nodiscard]] inline Matrix solution(Matrix g, Matrix b) {
  const std::size_t n = g.rows;
  std::vector<double> scale(n);
  for (std::size_t i = 0; i < n; ++i) scale[i] = g(i, i);
  std::vector<bool> used(n);
  for (std::size_t i = 0; i < n; ++i) {
    used[i] = g(i, i) > 1e-9 * scale[i];
    if (!used[i]) continue;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const double factor = g(j, i) / g(i, i);
      for (std::size_t c = 0; c < n; ++c) g(j, c) -= factor * g(i, c);
      for (std::size_t c = 0; c < b.columns; ++c) b(j, c) -= factor * b(i, c);
    }
  }
  Matrix x{n, b.columns};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; used[i] && c < b.columns; ++c) x(i, c) = b(i, c) / g(i, i);
  }
  return x;
}

/// The projection of `m` on the columns of M Q. `q` becomes M^T M Q, the next query up to a change of
/// basis.
[[nodiscard]] inline Matrix power_step(const Matrix& m, Matrix& q) {
  const Matrix p = times(m, q);
  const Matrix across = transposed(p);
  const Matrix approximated = times(p, solution(times(across, p), times(across, m)));
  q = times(transposed(m), p);
  return approximated;
}

/// Whether powersgd gives all ranks what the serial program gives in `iterations` iterations of
/// gradients that change, for one tensor of n components, and the contributions add up to it.
[[nodiscard]] inline bool low_rank_conforms(
    Network& network, int ranks, std::int64_t n, int iterations,
    const std::map<std::string, algorithms::OptionValue>& options = {}) {
  const algorithms::SchemeInfo& info = algorithms::find_scheme("powersgd");
  SchemeRanks scheme(info, ranks, {.components = n, .granule = 1}, 0, options);
  const auto& setup = scheme.setup();
  const algorithms::LowRankLayout layout =
      algorithms::low_rank_layout(n, {}, {}, setup.options.integer("rank"));
  const algorithms::FactoredMatrix& shape = layout.matrices.front();
  const auto side = static_cast<std::size_t>(shape.columns);
  Matrix q{side, static_cast<std::size_t>(shape.rank)};
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const auto gradient = [&](int rank) {
      return dense_gradient(static_cast<std::uint32_t>(n), rank + 1000 * iteration);
    };
    if (iteration == 1 || !setup.options.flag("warm_start")) {
      const std::uint64_t seed = algorithms::powersgd_query_seed(setup.seed, iteration);
      const std::vector<float> drawn = algorithms::drawn_query(layout, seed);
      q.values.assign(drawn.begin(), drawn.end());
    }
    Matrix sum{side, side};
    double largest = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const DenseBlock block = gradient(rank);
      for (std::size_t i = 0; i < block.size(); ++i) {
        sum.values[i] += block.values()[i];
        largest = std::max<double>(largest, std::abs(block.values()[i]));
      }
    }
    const Matrix expected = power_step(sum, q);
    const Iteration outcome = scheme.run(network, iteration, gradient);
    const double bound = 1e-4 * largest * ranks;
    std::vector<double> contributed(static_cast<std::size_t>(n));
    for (const algorithms::Reduced& result : outcome.results) {
      const auto& block = std::get<DenseBlock>(result.sum);
      if (!equal(block, std::get<DenseBlock>(outcome.results.front().sum))) return false;
      if (block.first() != 0 || block.size() != contributed.size()) return false;
      for (std::size_t i = 0; i < block.size(); ++i) {
        if (std::abs(block.values()[i] - expected.values[i]) > bound) return false;
        contributed[i] += std::get<DenseBlock>(result.contributed).values()[i];
      }
    }
    for (std::size_t i = 0; i < contributed.size(); ++i) {
      if (std::abs(contributed[i] - expected.values[i]) > bound) return false;
    }
  }
  return true;
}

}  // namespace thinwire::test
