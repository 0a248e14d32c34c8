// Least squares of functions that take long to compute: a simulation per residual.
#pragma once

#include <functional>
#include <vector>

namespace thinwire::studies {

using Vector = std::vector<double>;

/// The residuals at each of several points. All vectors of residuals are equally long. Points are
/// given together so that they can be computed together.
using Residuals = std::function<std::vector<Vector>(const std::vector<Vector>& points)>;

struct DescentSettings {
  double difference = 0.05;  ///< the distance of points that give the derivatives
  double most_move = 1;      ///< of one variable in one step
  double enough = 1e-3;      ///< relative gain of a step that is the last one
  int most_steps = 50;
};

/// Where the sum of squares is least.
struct LeastSquares {
  Vector point;
  Vector deviations;  ///< standard deviation of each variable; infinite if the residuals do not
                      ///< depend on it, or do not tell it from the others
  double rms = 0;     ///< root of the mean square of the residuals
  bool converged = false;  ///< else the steps ran out, or none of them was better
  int steps = 0;
};

/// Levenberg-Marquardt from `start`, with derivatives by differences. The deviations belong to
/// the linearised problem, with the variance of the residuals at the end.
[[nodiscard]] LeastSquares least_squares(const Residuals& residuals, Vector start,
                                         const DescentSettings& settings = {});

}  // namespace thinwire::studies
