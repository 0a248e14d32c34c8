#include "sim/app/studies/validate/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace thinwire::studies {

namespace {

/// Solves a x = b by elimination. `a` must be symmetric and positive definite.
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

/// Which points give the derivatives: those ahead, or also those behind, whose errors are of a higher
/// order and need twice as many points.
enum class Differences : std::uint8_t { forward, central };

Linearised linearised(const Residuals& residuals, const Vector& point, double difference,
                      Differences differences) {
  std::vector<Vector> points{point};
  const auto add_moved = [&](double by) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      points.push_back(point);
      points.back()[i] += by;
    }
  };
  add_moved(difference);
  const bool central = differences == Differences::central;
  if (central) add_moved(-difference);
  const std::vector<Vector> values = residuals(points);
  Linearised result{.residuals = values.front(),
                    .curvature = std::vector<Vector>(point.size(), Vector(point.size())),
                    .slope = Vector(point.size())};
  const auto derivative = [&](std::size_t row, std::size_t variable) {
    const double ahead = values[variable + 1][row];
    if (!central) return (ahead - values.front()[row]) / difference;
    return (ahead - values[variable + 1 + point.size()][row]) / (2 * difference);
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

/// By how much the other variables inflate the variance of each: the diagonal of the inverse
/// correlations of the derivatives. Infinite for what the residuals do not depend on, and great
/// for a combination of others.
Vector inflations_of(const std::vector<Vector>& curvature) {
  Vector result(curvature.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    if (curvature[i][i] > 0) kept.push_back(i);
  }
  constexpr double kLeast = 1e-9;  // keeps combinations solvable
  std::vector<Vector> correlation(kept.size(), Vector(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < kept.size(); ++j) {
      correlation[i][j] = curvature[kept[i]][kept[j]] / std::sqrt(curvature[kept[i]][kept[i]]) /
                          std::sqrt(curvature[kept[j]][kept[j]]);
    }
    correlation[i][i] = 1 + kLeast;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Vector unit(kept.size());
    unit[i] = 1;
    result[kept[i]] = solve(correlation, unit)[i];
  }
  return result;
}

/// The deviations of the variables: roots of the diagonal of the inverse curvature, times the
/// deviation of the residuals. What differences to one side make of variables that count only by
/// their sum is not quite proportional: those to both sides tell.
Vector deviations_of(const Linearised& forward, const Linearised& central) {
  constexpr double kMostInflation = 1e4;
  const std::size_t variables = forward.slope.size();
  const double freedom =
      static_cast<double>(forward.residuals.size()) - static_cast<double>(variables);
  const double variance = freedom > 0 ? sum_of_squares(forward.residuals) / freedom
                                      : std::numeric_limits<double>::infinity();
  const Vector inflations = inflations_of(forward.curvature);
  const Vector of_central = inflations_of(central.curvature);
  Vector result(variables, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < variables; ++i) {
    const bool apart = inflations[i] > 0 && std::isfinite(inflations[i]) && of_central[i] > 0 &&
                       of_central[i] <= kMostInflation;
    if (apart) result[i] = std::sqrt(variance * inflations[i] / forward.curvature[i][i]);
  }
  return result;
}

/// The move to the least square of the linearised problem, damped.
Vector damped_move(const Linearised& at, double damping) {
  constexpr double kLeast = 1e-12;  // keeps a row of zeros solvable
  std::vector<Vector> damped = at.curvature;
  for (std::size_t j = 0; j < damped.size(); ++j) {
    damped[j][j] += damping * (damped[j][j] + kLeast);
  }
  return solve(damped, at.slope);
}

constexpr double kLittleDamping = 1e-3;

/// Whether the linearised problem promises a move that the differences cannot tell from none, or a
/// gain that is not worth it.
bool is_settled(const Linearised& at, const DescentSettings& settings) {
  const Vector move = damped_move(at, kLittleDamping);
  double longest = 0;
  double gain = 0;
  for (std::size_t i = 0; i < move.size(); ++i) {
    longest = std::max(longest, std::abs(move[i]));
    gain += move[i] * at.slope[i];
  }
  return longest <= 2 * settings.difference ||
         gain <= settings.enough * sum_of_squares(at.residuals);
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
  std::vector<Vector> points;
  std::vector<double> dampings;
  for (int i = 0; i < kTried; ++i, damping *= 10) {
    const Vector move = damped_move(at, damping);
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

LeastSquares least_squares(const Residuals& residuals, Vector start,
                           const DescentSettings& settings) {
  constexpr double kNothing = 1e-10;  // mean square of residuals that are none
  constexpr double kMoreDamping = 1e4;
  constexpr double kMostDamping = 1e8;
  LeastSquares result{.point = std::move(start), .deviations = {}};
  double damping = kLittleDamping;
  Differences differences = Differences::forward;
  const auto here = [&](Differences by) {
    return linearised(residuals, result.point, settings.difference, by);
  };
  Linearised at = here(differences);
  while (!result.converged && result.steps < settings.most_steps) {
    ++result.steps;
    const double before = sum_of_squares(at.residuals);
    const Move move = best_move(residuals, result.point, at, damping, settings.most_move);
    if (move.squares < before) {
      result.point = move.point;
      damping = move.damping / 10;
      at = here(differences);
      // A damped step gains little wherever it is.
      result.converged = move.squares <= kNothing * static_cast<double>(at.residuals.size()) ||
                         (before - move.squares <= settings.enough * before &&
                          (damping <= kLittleDamping || is_settled(at, settings)));
    } else if (damping * kMoreDamping < kMostDamping) {
      damping *= kMoreDamping;
    } else if (differences == Differences::forward) {
      differences = Differences::central;
      damping = kLittleDamping;
      at = here(differences);
    } else {
      result.converged = is_settled(at, settings);
      break;
    }
  }
  result.deviations = deviations_of(here(Differences::forward), here(Differences::central));
  const auto count = static_cast<double>(std::max<std::size_t>(at.residuals.size(), 1));
  result.rms = std::sqrt(sum_of_squares(at.residuals) / count);
  return result;
}

}  // namespace thinwire::studies
