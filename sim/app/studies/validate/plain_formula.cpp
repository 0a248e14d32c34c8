#include "sim/app/studies/validate/plain_formula.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "algorithms/registry.hpp"
#include "sim/app/studies/validate/least_squares.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

constexpr std::size_t kParameters = 3;  // α, β, γ
using Matrix = std::vector<Vector>;

Vector as_vector(const algorithms::Terms& terms) {
  return {terms.messages, terms.words, terms.reduced};
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double predicted(const algorithms::Terms& terms, const Vector& parameters) {
  return dot(as_vector(terms), parameters) + terms.seconds;
}

double misfit(const std::vector<TimedTerms>& rows, const Vector& parameters) {
  double sum = 0;
  for (const TimedTerms& row : rows) {
    const double log = std::log(predicted(row.terms, parameters) / row.seconds);
    sum += log * log;
  }
  return sum;
}

/// Levenberg-Marquardt in the logarithms of the parameters that are not 0.
Vector descend(const std::vector<TimedTerms>& rows, Vector parameters) {
  constexpr int kMostSteps = 500;
  constexpr double kEnough = 1e-14;  // relative gain of a step
  double damping = 1e-3;
  double before = misfit(rows, parameters);
  for (int step = 0; step < kMostSteps; ++step) {
    Matrix curvature(kParameters, Vector(kParameters));
    Vector slope(kParameters);
    for (const TimedTerms& row : rows) {
      const Vector terms = as_vector(row.terms);
      const double value = predicted(row.terms, parameters);
      const double log = std::log(value / row.seconds);
      Vector share(kParameters);
      for (std::size_t i = 0; i < kParameters; ++i) share[i] = terms[i] * parameters[i] / value;
      for (std::size_t i = 0; i < kParameters; ++i) {
        slope[i] += share[i] * log;
        for (std::size_t j = 0; j < kParameters; ++j) curvature[i][j] += share[i] * share[j];
      }
    }
    std::optional<Vector> better;
    double after = before;
    constexpr double kMostDamping = 1e12;
    for (; damping < kMostDamping; damping *= 4) {
      Matrix damped = curvature;
      constexpr double kLeast = 1e-12;  // keeps a row of zeros, of a parameter of 0, solvable
      for (std::size_t i = 0; i < kParameters; ++i) {
        damped[i][i] += damping * (curvature[i][i] + kLeast);
        if (curvature[i][i] == 0) damped[i][i] = 1;
      }
      const Vector move = solve(damped, slope);
      Vector next = parameters;
      for (std::size_t i = 0; i < kParameters; ++i) next[i] *= std::exp(-move[i]);
      after = misfit(rows, next);
      if (std::isfinite(after) && after <= before) {
        better = next;
        break;
      }
    }
    if (!better) return parameters;
    parameters = *better;
    damping /= 8;
    if (before - after <= kEnough * before) return parameters;
    before = after;
  }
  return parameters;
}

}  // namespace

double PlainMachine::seconds(const algorithms::Terms& terms) const {
  return predicted(terms, {alpha.value(), beta_per_word.value(), gamma_per_word.value()});
}

algorithms::Terms terms_of(const std::string& scheme,
                           const std::map<std::string, algorithms::OptionValue>& given, int ranks,
                           std::int64_t elements, int node) {
  const algorithms::SchemeInfo& info = algorithms::find_scheme(scheme);
  const algorithms::Options options(info.options, given);
  const std::vector<std::int64_t> tensors;
  const algorithms::Interval run = info.cost({.ranks = ranks,
                                              .n = elements,
                                              .k = elements,
                                              .options = &options,
                                              .tensors = &tensors,
                                              .node = node})
                                       .run();
  return 0.5 * (run.low + run.high);
}

algorithms::Terms terms_of(const plan::Point& point) {
  const algorithms::SchemeInfo& info = algorithms::find_scheme(point.scheme);
  const algorithms::Options options(info.options, point.options);
  const algorithms::Interval run = info.cost({.ranks = point.ranks,
                                              .n = point.space.components,
                                              .k = info.dense ? point.space.components : point.k,
                                              .iteration = std::max(1, point.iterations),
                                              .options = &options,
                                              .granule = point.space.granule,
                                              .tensors = &point.tensors,
                                              .alpha = point.machine.alpha,
                                              .beta_per_word = point.machine.beta_per_word})
                                       .run();
  return 0.5 * (run.low + run.high);
}

PlainMachine fit_plain(const std::vector<TimedTerms>& rows) {
  // Each parameter starts at half of what it may be at most where it alone explains a row. A
  // parameter that is better at 0 would get there in endless steps, so all subsets are tried.
  Vector start(kParameters);
  for (std::size_t i = 0; i < kParameters; ++i) {
    double most = std::numeric_limits<double>::infinity();
    for (const TimedTerms& row : rows) {
      const double term = as_vector(row.terms)[i];
      if (term > 0) most = std::min(most, row.seconds / term);
    }
    start[i] = std::isfinite(most) ? 0.5 * most : 0;
  }
  Vector best(kParameters);
  double least = std::numeric_limits<double>::infinity();
  for (unsigned subset = 1; subset < 1U << kParameters; ++subset) {
    Vector from(kParameters);
    for (std::size_t i = 0; i < kParameters; ++i) {
      if ((subset >> i & 1U) != 0) from[i] = start[i];
    }
    if (!std::isfinite(misfit(rows, from))) continue;  // a row of which no term is left
    const Vector found = descend(rows, from);
    const double now = misfit(rows, found);
    constexpr double kBetter = 1 - 1e-9;  // than fewer parameters
    if (now >= kBetter * least) continue;
    least = now;
    best = found;
  }
  if (rows.empty() || !std::isfinite(least)) {
    throw InputError("the plain formula has no measured row to be fitted to");
  }
  return {Seconds(best[0]), Seconds(best[1]), Seconds(best[2])};
}

}  // namespace thinwire::studies
