// How well predicted times agree with measured ones, and how well they order algorithms.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace thinwire::studies {

/// predicted/measured - 1 where the prediction is too long, and -(measured/predicted - 1) where it
/// is too short: twice as long is +1, half as long is -1.
[[nodiscard]] double signed_error(double measured, double predicted);

/// A measured time and the predicted one of the same point.
struct Prediction {
  double measured = 0;
  double predicted = 0;
};

struct ErrorFigures {
  std::size_t rows = 0;
  double median = 0;  ///< of |signed_error|
  double p90 = 0;
  double bias = 0;  ///< exp(mean of log(predicted / measured)) - 1
};

/// All 0 without predictions.
[[nodiscard]] ErrorFigures error_figures(const std::vector<Prediction>& predictions);

/// A measured algorithm among all of the same choice: machine, run, test, collective and size.
struct Contender {
  std::string choice;
  std::string scheme;
  Prediction time;
};

struct ChoiceFigures {
  std::size_t pairs = 0;    ///< of different schemes whose measured times differ by more than 10%
  std::size_t right = 0;    ///< pairs that the prediction orders as the measurement does
  std::size_t choices = 0;  ///< with two schemes at least
  /// The time of the scheme that is predicted to be the fastest, over the time of the fastest one, minus
  /// 1. Where several rows share the least prediction (implementations of one scheme), it is the
  /// mean of their measured times.
  double mean_regret = 0;
  double worst_regret = 0;
};

[[nodiscard]] ChoiceFigures choice_figures(const std::vector<Contender>& contenders);

}  // namespace thinwire::studies
