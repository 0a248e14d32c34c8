#include "algorithms/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/base/random.hpp"

namespace thinwire::algorithms {

namespace {

/// A column counts as independent of the earlier ones if at least this share of its length is left.
constexpr double kIndependent = 1e-5;

std::int64_t side_of_square(std::int64_t components) {
  auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(components)));
  while (side * side < components) ++side;
  while (side > 1 && (side - 1) * (side - 1) >= components) --side;
  return side;
}

template <class T>
std::span<T> part(std::span<T> all, std::int64_t first, std::int64_t count) {
  return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

std::span<const float> values_of(const FactoredMatrix& matrix, std::span<const float> gradient) {
  return part(gradient, matrix.first, matrix.components);
}
template <class T>
std::span<T> p_of(const FactoredMatrix& matrix, std::span<T> p) {
  return part(p, matrix.p_first, matrix.rows * matrix.rank);
}
template <class T>
std::span<T> q_of(const FactoredMatrix& matrix, std::span<T> q) {
  return part(q, matrix.q_first, matrix.columns * matrix.rank);
}

/// The rows that are not padding alone, of which the last may be cut short.
template <class Visit>
void for_each_row(const FactoredMatrix& matrix, Visit visit) {
  for (std::int64_t row = 0; row * matrix.columns < matrix.components; ++row) {
    const std::int64_t begin = row * matrix.columns;
    visit(row, begin, std::min(matrix.columns, matrix.components - begin));
  }
}

/// A matrix of few columns, with indexes.
template <class T>
struct Factor {
  std::span<T> values;
  std::int64_t rank;

  T& operator()(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * rank + column)];
  }
};

void make_orthonormal(const FactoredMatrix& matrix, std::span<float> p) {
  std::vector<double> exact(p.begin(), p.end());
  const Factor<double> columns{exact, matrix.rank};
  const auto product = [&](std::int64_t a, std::int64_t b) {
    double sum = 0;
    for (std::int64_t row = 0; row < matrix.rows; ++row) sum += columns(row, a) * columns(row, b);
    return sum;
  };
  for (std::int64_t a = 0; a < matrix.rank; ++a) {
    const double before = std::sqrt(product(a, a));
    for (std::int64_t b = 0; b < a; ++b) {
      const double share = product(a, b);
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        columns(row, a) -= share * columns(row, b);
      }
    }
    const double left = std::sqrt(product(a, a));
    const double factor = left > kIndependent * before ? 1 / left : 0;
    for (std::int64_t row = 0; row < matrix.rows; ++row) columns(row, a) *= factor;
  }
  std::ranges::transform(exact, p.begin(), [](double value) { return static_cast<float>(value); });
}

float drawn(std::uint64_t seed, std::int64_t position) {
  return static_cast<float>(normal_draw(random_bits(seed, position)));
}

}  // namespace

LowRankLayout low_rank_layout(std::int64_t n, std::span<const std::int64_t> tensors,
                              std::span<const std::int64_t> rows, std::int64_t rank) {
  const std::span<const std::int64_t> sizes = tensors.empty() ? std::span(&n, 1) : tensors;
  LowRankLayout layout;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i];
    const bool known = !rows.empty();
    const std::int64_t height = known ? rows[i] : side_of_square(size);
    const std::int64_t width = known ? size / height : height;
    if (known && (height == 1 || width == 1)) {
      layout.vectors.push_back({.first = first, .components = size});
    } else {
      const FactoredMatrix matrix{.first = first,
                                  .components = size,
                                  .rows = height,
                                  .columns = width,
                                  .rank = std::min({rank, height, width}),
                                  .p_first = layout.p_words,
                                  .q_first = layout.q_words};
      layout.p_words += matrix.rows * matrix.rank;
      layout.q_words += matrix.columns * matrix.rank;
      layout.matrices.push_back(matrix);
    }
    first += size;
  }
  for (PlainVector& vector : layout.vectors) {
    vector.p_first = layout.p_words;
    layout.p_words += vector.components;
  }
  return layout;
}

std::vector<float> left_factors(const LowRankLayout& layout, std::span<const float> gradient,
                                std::span<const float> q) {
  std::vector<float> p(static_cast<std::size_t>(layout.p_words));
  for (const FactoredMatrix& matrix : layout.matrices) {
    const auto values = values_of(matrix, gradient);
    const Factor<const float> query{q_of(matrix, q), matrix.rank};
    const Factor<float> result{p_of(matrix, std::span(p)), matrix.rank};
    std::vector<double> sums(static_cast<std::size_t>(matrix.rank));
    for_each_row(matrix, [&](std::int64_t row, std::int64_t begin, std::int64_t length) {
      std::ranges::fill(sums, 0);
      for (std::int64_t column = 0; column < length; ++column) {
        const double value = values[static_cast<std::size_t>(begin + column)];
        for (std::int64_t a = 0; a < matrix.rank; ++a) {
          sums[static_cast<std::size_t>(a)] += value * query(column, a);
        }
      }
      for (std::int64_t a = 0; a < matrix.rank; ++a) {
        result(row, a) = static_cast<float>(sums[static_cast<std::size_t>(a)]);
      }
    });
  }
  for (const PlainVector& vector : layout.vectors) {
    std::ranges::copy(part(gradient, vector.first, vector.components), p.begin() + vector.p_first);
  }
  return p;
}

std::vector<float> right_factors(const LowRankLayout& layout, std::span<const float> gradient,
                                 std::span<const float> p) {
  std::vector<double> exact(static_cast<std::size_t>(layout.q_words));
  for (const FactoredMatrix& matrix : layout.matrices) {
    const auto values = values_of(matrix, gradient);
    const Factor<const float> basis{p_of(matrix, p), matrix.rank};
    const Factor<double> result{q_of(matrix, std::span(exact)), matrix.rank};
    for_each_row(matrix, [&](std::int64_t row, std::int64_t begin, std::int64_t length) {
      for (std::int64_t column = 0; column < length; ++column) {
        const double value = values[static_cast<std::size_t>(begin + column)];
        for (std::int64_t a = 0; a < matrix.rank; ++a) {
          result(column, a) += value * basis(row, a);
        }
      }
    });
  }
  return {exact.begin(), exact.end()};
}

std::vector<float> orthonormal(const LowRankLayout& layout, std::span<const float> p) {
  std::vector<float> basis(p.begin(), p.end());
  for (const FactoredMatrix& matrix : layout.matrices) {
    make_orthonormal(matrix, p_of(matrix, std::span(basis)));
  }
  return basis;
}

std::vector<float> product_of_factors(const LowRankLayout& layout, std::int64_t n,
                                      std::span<const float> p, std::span<const float> q,
                                      double scale) {
  std::vector<float> gradient(static_cast<std::size_t>(n));
  for (const FactoredMatrix& matrix : layout.matrices) {
    const auto values = part(std::span(gradient), matrix.first, matrix.components);
    const Factor<const float> left{p_of(matrix, p), matrix.rank};
    const Factor<const float> right{q_of(matrix, q), matrix.rank};
    for_each_row(matrix, [&](std::int64_t row, std::int64_t begin, std::int64_t length) {
      for (std::int64_t column = 0; column < length; ++column) {
        double sum = 0;
        for (std::int64_t a = 0; a < matrix.rank; ++a) {
          sum += static_cast<double>(left(row, a)) * right(column, a);
        }
        values[static_cast<std::size_t>(begin + column)] = static_cast<float>(sum * scale);
      }
    });
  }
  for (const PlainVector& vector : layout.vectors) {
    std::ranges::copy(part(p, vector.p_first, vector.components), gradient.begin() + vector.first);
  }
  return gradient;
}

std::vector<float> drawn_query(const LowRankLayout& layout, std::uint64_t seed) {
  std::vector<float> q(static_cast<std::size_t>(layout.q_words));
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = drawn(seed, static_cast<std::int64_t>(i));
  return q;
}

std::vector<float> reused_query(const LowRankLayout& layout, std::span<const float> last,
                                std::uint64_t seed) {
  std::vector<float> q(last.begin(), last.end());
  for (const FactoredMatrix& matrix : layout.matrices) {
    const Factor<float> columns{q_of(matrix, std::span(q)), matrix.rank};
    for (std::int64_t a = 0; a < matrix.rank; ++a) {
      bool zero = true;
      for (std::int64_t row = 0; zero && row < matrix.columns; ++row) zero = columns(row, a) == 0;
      for (std::int64_t row = 0; zero && row < matrix.columns; ++row) {
        columns(row, a) = drawn(seed, matrix.q_first + row * matrix.rank + a);
      }
    }
  }
  return q;
}

Seconds product_time(const LowRankLayout& layout, const WorkPrices& prices) {
  Seconds time;
  for (const FactoredMatrix& matrix : layout.matrices) {
    time += prices.scan.of(matrix.components + matrix.rank * (matrix.rows + matrix.columns));
  }
  return time;
}

Seconds orthonormal_time(const LowRankLayout& layout, const WorkPrices& prices) {
  constexpr double kOfColumn = 4;  // operators: square, sum, root, divide
  constexpr double kOfLater = 4;   // multiply, sum, multiply, subtract
  double operators = 0;
  double accesses = 0;
  for (const FactoredMatrix& matrix : layout.matrices) {
    for (std::int64_t later = matrix.rank - 1; later >= 0; --later) {
      const auto rows = static_cast<double>(matrix.rows);
      operators += kOfColumn + (later > 0 ? kOfLater : 0);
      accesses += 5 * rows;
      if (later > 0) accesses += 2 * rows + 7 * rows * static_cast<double>(later);
    }
  }
  return prices.scan.call * operators + prices.scan.element * accesses;
}

}  // namespace thinwire::algorithms
