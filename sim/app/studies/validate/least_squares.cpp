#include "sim/app/studies/validate/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace thinwire::studies {

namespace {

double sum_of_squares(const Vector& residuals) {
  double sum = 0;
  for (const double residual : residuals) sum += residual * residual;
  return sum;
}

/// The problem near a point: its residuals r, and JᵀJ and Jᵀr of their derivatives J.
struct Linearised {
  Vector residuals;
  std::vector<Vector> curvature;
  Vector slope;
};

Linearised linearised(const Residuals& residuals, const Vector& point, double difference) {
  std::vector<Vector> points{point};
  for (std::size_t i = 0; i < point.size(); ++i) {
    points.push_back(point);
    points.back()[i] += difference;
  }
  const std::vector<Vector> values = residuals(points);
  Linearised result{.residuals = values.front(),
                    .curvature = std::vector<Vector>(point.size(), Vector(point.size())),
                    .slope = Vector(point.size())};
  const auto derivative = [&](std::size_t row, std::size_t variable) {
    return (values[variable + 1][row] - values.front()[row]) / difference;
  };
  for (std::size_t row = 0; row < result.residuals.size(); ++row) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      result.slope[i] += derivative(row, i) * result.residuals[row];
      for (std::size_t j = 0; j < point.size(); ++j) {
        result.curvature[i][j] += derivative(row, i) * derivative(row, j);
      }
    }
  }
  return result;
}

/// The deviations of the variables: roots of the diagonal of the inverse curvature, times the
/// deviation of the residuals.
Vector deviations_of(const Linearised& at) {
  const std::size_t variables = at.slope.size();
  const double freedom = static_cast<double>(at.residuals.size()) - static_cast<double>(variables);
  const double variance = freedom > 0 ? sum_of_squares(at.residuals) / freedom
                                      : std::numeric_limits<double>::infinity();
  Vector result(variables, std::numeric_limits<double>::infinity());
  // What the residuals do not depend on would make the curvature singular.
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < variables; ++i) {
    if (at.curvature[i][i] > 0) kept.push_back(i);
  }
  std::vector<Vector> curvature(kept.size(), Vector(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < kept.size(); ++j) curvature[i][j] = at.curvature[kept[i]][kept[j]];
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Vector unit(kept.size());
    unit[i] = 1;
    const double inverse = solve(curvature, unit)[i];
    if (std::isfinite(inverse) && inverse >= 0) result[kept[i]] = std::sqrt(variance * inverse);
  }
  return result;
}

/// The best of several moves with more and more damping, or nothing where none is better.
struct Move {
  Vector point;
  double squares = std::numeric_limits<double>::infinity();
  double damping = 0;
};

Move best_move(const Residuals& residuals, const Vector& from, const Linearised& at, double damping,
               double most_move) {
  constexpr int kTried = 4;
  constexpr double kLeast = 1e-12;  // keeps a row of zeros solvable
  std::vector<Vector> points;
  std::vector<double> dampings;
  for (int i = 0; i < kTried; ++i, damping *= 10) {
    std::vector<Vector> damped = at.curvature;
    for (std::size_t j = 0; j < damped.size(); ++j) {
      damped[j][j] += damping * (damped[j][j] + kLeast);
    }
    const Vector move = solve(damped, at.slope);
    Vector point = from;
    for (std::size_t j = 0; j < point.size(); ++j) {
      point[j] -= std::clamp(move[j], -most_move, most_move);
    }
    points.push_back(std::move(point));
    dampings.push_back(damping);
  }
  const std::vector<Vector> values = residuals(points);
  Move best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double squares = sum_of_squares(values[i]);
    if (squares < best.squares) best = {points[i], squares, dampings[i]};
  }
  return best;
}

}  // namespace

Vector solve(std::vector<Vector> a, Vector b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t row = 0; row < b.size(); ++row) {
      if (row == i) continue;
      const double factor = a[row][i] / a[i][i];
      for (std::size_t j = 0; j < b.size(); ++j) a[row][j] -= factor * a[i][j];
      b[row] -= factor * b[i];
    }
  }
  for (std::size_t i = 0; i < b.size(); ++i) b[i] /= a[i][i];
  return b;
}

LeastSquares least_squares(const Residuals& residuals, Vector start,
                           const DescentSettings& settings) {
  Vector point = std::move(start);
  double damping = 1e-3;
  Linearised at = linearised(residuals, point, settings.difference);
  for (int step = 0; step < settings.most_steps; ++step) {
    const double before = sum_of_squares(at.residuals);
    const Move move = best_move(residuals, point, at, damping, settings.most_move);
    if (!(move.squares < before)) break;
    point = move.point;
    damping = move.damping / 10;
    at = linearised(residuals, point, settings.difference);
    constexpr double kNothing = 1e-10;  // mean square of residuals that are none
    if (before - move.squares <= settings.enough * before) break;
    if (move.squares <= kNothing * static_cast<double>(at.residuals.size())) break;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(at.residuals.size(), 1));
  return {.point = point,
          .deviations = deviations_of(at),
          .rms = std::sqrt(sum_of_squares(at.residuals) / count)};
}

}  // namespace thinwire::studies
