#include "sim/app/studies/validate/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/core/base/quantile.hpp"

namespace thinwire::studies {

namespace {

/// The least factor between two measured times that are told apart: runs of different days differ
/// by as much.
constexpr double kApart = 1.1;

void count_pairs(const std::vector<const Contender*>& group, ChoiceFigures& figures) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = i + 1; j < group.size(); ++j) {
      const Contender& a = *group[i];
      const Contender& b = *group[j];
      if (a.scheme == b.scheme) continue;
      const auto [shorter, longer] = std::minmax(a.time.measured, b.time.measured);
      if (longer <= kApart * shorter) continue;
      ++figures.pairs;
      const bool a_is_faster = a.time.measured < b.time.measured;
      const bool right =
          a_is_faster ? a.time.predicted < b.time.predicted : b.time.predicted < a.time.predicted;
      figures.right += right ? 1 : 0;
    }
  }
}

double regret_of(const std::vector<const Contender*>& group) {
  double least = std::numeric_limits<double>::infinity();
  double fastest = least;
  for (const Contender* one : group) {
    least = std::min(least, one->time.predicted);
    fastest = std::min(fastest, one->time.measured);
  }
  double taken = 0;
  double chosen = 0;
  for (const Contender* one : group) {
    if (one->time.predicted > least) continue;
    taken += one->time.measured;
    ++chosen;
  }
  return taken / chosen / fastest - 1;
}

}  // namespace

double signed_error(double measured, double predicted) {
  return predicted >= measured ? predicted / measured - 1 : 1 - measured / predicted;
}

ErrorFigures error_figures(const std::vector<Prediction>& predictions) {
  if (predictions.empty()) return {};
  std::vector<double> errors;
  double logs = 0;
  for (const Prediction& one : predictions) {
    errors.push_back(std::abs(signed_error(one.measured, one.predicted)));
    logs += std::log(one.predicted / one.measured);
  }
  return {.rows = predictions.size(),
          .median = quantile(errors, 0.5),
          .p90 = quantile(errors, 0.9),
          .bias = std::exp(logs / static_cast<double>(predictions.size())) - 1};
}

ChoiceFigures choice_figures(const std::vector<Contender>& contenders) {
  std::map<std::string, std::vector<const Contender*>> groups;
  for (const Contender& one : contenders) groups[one.choice].push_back(&one);
  ChoiceFigures figures;
  for (const auto& [choice, group] : groups) {
    const std::string& first = group.front()->scheme;
    const bool several =
        std::ranges::any_of(group, [&](const Contender* one) { return one->scheme != first; });
    if (!several) continue;
    count_pairs(group, figures);
    const double regret = regret_of(group);
    ++figures.choices;
    figures.mean_regret += regret;
    figures.worst_regret = std::max(figures.worst_regret, regret);
  }
  if (figures.choices > 0) figures.mean_regret /= static_cast<double>(figures.choices);
  return figures;
}

}  // namespace thinwire::studies
