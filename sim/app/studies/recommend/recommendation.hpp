// The answer: the ranked candidates, what the ranking rests on, and where it changes.
#pragma once

#include <string>
#include <vector>

#include "sim/app/studies/recommend/candidate.hpp"

namespace thinwire::studies {

/// The value of one parameter, among those tried, at which the advice is another scheme first.
struct Crossover {
  std::string along;  ///< ranks, density, alpha or beta
  bool up = true;     ///< towards larger values
  double at = 0;      ///< if `winner`; a factor of the given value for alpha and beta
  std::string winner = {};
  double gain = 1;         ///< the time of the present winner over the new winner's
  double looked_to = 0;    ///< the last value that could be simulated; 0: none
  std::string ended = {};  ///< why the search ended before a winner was found
};

/// A candidate that is neither among the fastest nor the fastest with the dense sum.
struct Slower {
  std::string scheme;
  double over_s = 0;  ///< its iteration takes longer than this
};

/// Something that the ranking rests on.
struct Remark {
  std::string what;
  std::string value;
};

/// A scheme that does not give the dense sum has to be faster than those that do by this factor:
/// less is within the uncertainty of a simulation, and is not worth another convergence.
inline constexpr double kWorthwhile = 1.05;

/// The recommended one of the candidates that may be recommended: the fastest. If it does not give the
/// dense sum and is less than 5% faster than the fastest that does, the latter. The first of equal ones;
/// null if there are none.
[[nodiscard]] const Candidate* advised(const std::vector<const Candidate*>& candidates);

struct Recommendation {
  /// By simulated iteration time; those that do not fit after those that do, and those without a
  /// time last.
  std::vector<Candidate> ranked;
  std::vector<Remark> assumptions;
  std::vector<Remark> left_out;         ///< candidates that were not simulated, and why
  std::vector<Slower> slower;           ///< and those whose simulations ended early
  std::vector<std::string> contenders;  ///< the candidates for crossovers
  std::vector<Crossover> crossovers;
  bool interrupted = false;  ///< by Ctrl-C: not all was simulated

  /// What is advised of the candidates that are advisable.
  [[nodiscard]] const Candidate* advice() const;
};

}  // namespace thinwire::studies
