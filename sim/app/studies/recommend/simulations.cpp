#include "sim/app/studies/recommend/simulations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

/// Calls `work`, and keeps an InputError in the attempt.
template <class Work>
void guarded(Attempt& attempt, const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    attempt.refused = std::current_exception();
    attempt.trouble = error.what();
  }
}

/// The allreduce of an attempt alone, with few chunks that stand for all; nothing where none do.
std::optional<plan::Point> with_few_chunks(const Attempt& attempt, const plan::Point& training) {
  if (!training.scheme->stand_ins.pipeline || training.sums_activations()) return std::nullopt;
  constexpr int kChunks = 64;
  Attempt alone = attempt;
  for (const char* key : {"workload", "density", "k", "iterations", "input", "error_feedback"}) {
    alone.point.erase(key);
  }
  alone.point["components"] = training.space.components;
  alone.point["approximate"] = kChunks;
  try {
    return point_of(alone);
  } catch (const InputError&) {  // its chunks are not alike
    return std::nullopt;
  }
}

/// Notes what a simulation has found out.
void take_end(Attempt& attempt, const run::EndedPoint& ended) {
  attempt.trouble.clear();
  if (ended.too_slow) return;
  attempt.over_s.reset();
  guarded(attempt, [&] {
    if (ended.refused) std::rethrow_exception(ended.refused);
    attempt.candidate = candidate_from(ended.row);
    const results::Row& row = attempt.candidate->row;
    if (!row.outcome) attempt.trouble = row.reason;
    if (row.outcome && selects_far_from_k(row)) attempt.trouble = "it selects far from k";
  });
}

}  // namespace

std::vector<Attempt> attempts_of(const std::vector<std::string>& schemes, const Json& point) {
  std::vector<Attempt> attempts;
  for (const std::string& scheme : schemes) attempts.push_back({.scheme = scheme, .point = point});
  return attempts;
}

void keep_options(Json& point, const algorithms::SchemeInfo& scheme) {
  if (!point.contains("options")) return;
  Json kept = Json::object();
  for (const auto& item : point.at("options").items()) {
    if (algorithms::has_option(scheme.options, item.key())) kept[item.key()] = item.value();
  }
  point["options"] = kept;
}

plan::Point point_of(const Attempt& attempt) {
  Json point = attempt.point;
  point["scheme"] = attempt.scheme;
  keep_options(point, algorithms::find_scheme(attempt.scheme));
  return plan::point_from(point, "recommend");
}

void rule_out(const RecommendSettings& settings, std::vector<Attempt>& attempts,
              const Batch& batch) {
  std::vector<plan::Point> points;
  std::vector<Attempt*> of_point;
  std::vector<plan::Point> trainings;
  for (Attempt& attempt : attempts) {
    if (!attempt.is_open()) continue;
    guarded(attempt, [&] {
      const plan::Point training = point_of(attempt);
      const std::optional<plan::Point> point = with_few_chunks(attempt, training);
      if (point && run::estimated_wall_s(*point) <= settings.longest_first_s) {
        points.push_back(*point);
        trainings.push_back(training);
        of_point.push_back(&attempt);
      }
    });
  }
  run::PointWatcher watcher;
  watcher.progress = [&](const run::JobProgress& now) {
    if (!settings.progress) return;
    settings.progress({.done = batch.done,
                       .running = now.running,
                       .total = batch.done + batch.later,
                       .left_s = now.left_s + batch.later_s});
  };
  const std::vector<run::EndedPoint> ended = run::run_points(
      "recommend", points, {.processes = {.at_once = settings.jobs}, .alphabeta = false}, watcher);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!ended[i].row.outcome) continue;
    constexpr double kSure = 0.9;  // twice the error of few chunks is left
    const double sums = ended[i].row.outcome->time().value() / trainings[i].workload.local_steps;
    const double least = time_before_sums(trainings[i]) + kSure * sums;
    if (const double limit = batch.give_up_after(*of_point[i]); least > limit) {
      of_point[i]->over_s = limit;
    }
  }
}

void simulate_all(const RecommendSettings& settings, std::vector<Attempt>& attempts,
                  const Batch& batch) {
  std::vector<Attempt*> in_order;
  for (Attempt& attempt : attempts) in_order.push_back(&attempt);
  std::ranges::stable_sort(in_order, {}, &Attempt::forecast_s);
  std::vector<plan::Point> points;
  std::vector<Attempt*> of_point;
  for (Attempt* const attempt : in_order) {
    if (!attempt->is_open()) continue;
    guarded(*attempt, [&] {
      const plan::Point point = point_of(*attempt);
      const double expected = run::estimated_wall_s(point);
      if (expected > batch.longest_s && point.scheme->stand_ins.pipeline) return;
      if (expected > settings.most_seconds) {
        attempt->trouble = fmt::format("its simulation would take about {:.0f} s", expected);
        return;
      }
      points.push_back(point);
      of_point.push_back(attempt);
      attempt->trouble = kNotBeforeInterrupt;
    });
  }
  run::PointSettings how{
      .processes = {.at_once = settings.jobs, .in_order = static_cast<bool>(batch.give_up_after)},
      .alphabeta = false};
  if (batch.give_up_after) {
    how.give_up_after = [&](std::size_t i) { return batch.give_up_after(*of_point[i]); };
  }
  run::PointWatcher watcher;
  watcher.started = [&](std::size_t i) {
    if (batch.give_up_after) of_point[i]->over_s = batch.give_up_after(*of_point[i]);
  };
  run::SweepProgress shown{.done = batch.done, .total = batch.done + points.size() + batch.later};
  const auto show = [&](const results::Row* ended) {
    if (!settings.progress) return;
    shown.ended = ended;
    settings.progress(shown);
  };
  watcher.ended = [&](std::size_t i, const run::EndedPoint& ended) {
    take_end(*of_point[i], ended);
    if (++shown.done == shown.total) shown.left_s = 0;
    show(&ended.row);
  };
  watcher.progress = [&](const run::JobProgress& now) {
    shown.done = batch.done + now.ended;
    shown.running = now.running;
    shown.left_s = now.left_s + batch.later_s;
    show(nullptr);
  };
  static_cast<void>(run::run_points("recommend", points, how, watcher));
}

void take_candidates(std::vector<Attempt> attempts, Recommendation& into) {
  for (Attempt& attempt : attempts) {
    if (attempt.refused) std::rethrow_exception(attempt.refused);
    if (attempt.candidate) {
      into.ranked.push_back(std::move(*attempt.candidate));
    } else if (attempt.trouble.empty()) {
      into.slower.push_back({attempt.scheme, *attempt.over_s});
    } else {
      into.left_out.push_back({attempt.scheme, attempt.trouble});
    }
  }
}

}  // namespace thinwire::studies
