#include "sim/app/studies/validate/plain_formula.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/studies/validate/least_squares.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

using Parameters = std::array<double, 3>;  // α, β, γ

Parameters parts_of(const algorithms::Terms& terms) {
  return {terms.messages, terms.words, terms.reduced};
}

double predicted(const algorithms::Terms& terms, const Parameters& parameters) {
  const Parameters parts = parts_of(terms);
  return std::inner_product(parts.begin(), parts.end(), parameters.begin(), terms.seconds);
}

/// Some of the parameters, by their logarithms; the others are 0.
struct Subset {
  std::vector<std::size_t> members;

  [[nodiscard]] Parameters parameters(const Vector& logs) const {
    Parameters all{};
    for (std::size_t i = 0; i < members.size(); ++i) all[members[i]] = std::exp(logs[i]);
    return all;
  }
};

Vector misfits(const std::vector<TimedTerms>& rows, const Parameters& parameters) {
  Vector logs;
  for (const TimedTerms& row : rows) {
    logs.push_back(std::log(predicted(row.terms, parameters) / row.seconds));
  }
  return logs;
}

LeastSquares descend(const std::vector<TimedTerms>& rows, const Subset& subset, Vector start) {
  const auto residuals = [&](const std::vector<Vector>& points) {
    std::vector<Vector> all;
    for (const Vector& logs : points) all.push_back(misfits(rows, subset.parameters(logs)));
    return all;
  };
  return least_squares(residuals, std::move(start),
                       {.difference = 1e-5, .most_move = 10, .enough = 1e-14, .most_steps = 500});
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
  const algorithms::SchemeInfo& info = *point.scheme;
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
  Parameters start{};
  start.fill(std::numeric_limits<double>::infinity());
  for (const TimedTerms& row : rows) {
    const Parameters parts = parts_of(row.terms);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] > 0) start[i] = std::min(start[i], 0.5 * row.seconds / parts[i]);
    }
  }
  Parameters best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned chosen = 1; chosen < 1U << start.size(); ++chosen) {
    Subset subset;
    Vector logs;
    for (std::size_t i = 0; i < start.size(); ++i) {
      if ((chosen >> i & 1U) == 0 || !std::isfinite(start[i])) continue;
      subset.members.push_back(i);
      logs.push_back(std::log(start[i]));
    }
    const Vector first = misfits(rows, subset.parameters(logs));
    if (!std::ranges::all_of(first, [](double log) { return std::isfinite(log); })) {
      continue;  // a row of which no term is left
    }
    const LeastSquares found = descend(rows, subset, std::move(logs));
    constexpr double kBetter = 1 - 1e-9;  // than fewer parameters
    if (found.rms >= kBetter * least) continue;
    least = found.rms;
    best = subset.parameters(found.point);
  }
  if (rows.empty() || !std::isfinite(least)) {
    throw InputError("the plain formula has no measured row to be fitted to");
  }
  return {Seconds(best[0]), Seconds(best[1]), Seconds(best[2])};
}

}  // namespace thinwire::studies
