#include "sim/app/studies/recommend/simulations.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/compare.hpp"
#include "sim/app/experiment/estimate.hpp"
#include "sim/app/experiment/simulate.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::studies {

namespace {

void announce(const RecommendSettings& settings, const Attempt& attempt) {
  if (!settings.progress) return;
  std::string what = fmt::format("{}, P = {}", attempt.scheme, attempt.point.value("ranks", 16));
  if (attempt.point.contains("density")) {
    what += fmt::format(", density {:.3g}", attempt.point.value("density", 0.0));
  }
  const double latency = attempt.point.value("latency_factor", 1.0);
  const double bandwidth = attempt.point.value("bandwidth_factor", 1.0);
  if (latency != 1) what += fmt::format(", latencies times {:.3g}", latency);
  if (bandwidth != 1) what += fmt::format(", bandwidths times {:.3g}", bandwidth);
  settings.progress(what);
}

/// Starts the simulation of an attempt; nothing if it is refused, or takes too long.
std::unique_ptr<ChildProcess> start_attempt(const RecommendSettings& settings, Attempt& attempt) {
  const experiment::Point point = experiment::point_from(attempt.point, "recommend");
  const double expected = experiment::estimated_wall_s(point);
  if (expected > settings.most_seconds) {
    attempt.trouble = fmt::format("its simulation would take about {:.0f} s", expected);
    return nullptr;
  }
  announce(settings, attempt);
  std::optional<ChildWork> work = experiment::work_of(point, {.alphabeta = false});
  if (!work) {
    attempt.candidate = candidate_from(experiment::row_of("recommend", point, nullptr));
    return nullptr;
  }
  return std::make_unique<ChildProcess>(std::move(*work));
}

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

void simulate_all(const RecommendSettings& settings, std::vector<Attempt>& attempts) {
  const InterruptGuard guard;
  struct Underway {
    Attempt* attempt;
    std::unique_ptr<ChildProcess> child;
  };
  std::vector<Underway> running;
  std::size_t next = 0;
  while (next < attempts.size() || !running.empty()) {
    while (next < attempts.size() && running.size() < static_cast<std::size_t>(settings.jobs)) {
      Attempt& attempt = attempts[next++];
      guarded(attempt, [&] {
        Json& point = attempt.point;
        point["scheme"] = attempt.scheme;
        keep_options(point, algorithms::find_scheme(attempt.scheme));
        if (auto child = start_attempt(settings, attempt))
          running.push_back({&attempt, std::move(child)});
      });
    }
    std::vector<const ChildProcess*> children;
    for (const Underway& one : running) children.push_back(one.child.get());
    constexpr std::chrono::milliseconds kTick{100};
    if (!children.empty()) ChildProcess::wait_for_news(children, kTick);
    for (auto one = running.begin(); one != running.end();) {
      if (!one->child->advance()) {
        ++one;
        continue;
      }
      Attempt& attempt = *one->attempt;
      guarded(attempt, [&] {
        const experiment::Point point = experiment::point_from(attempt.point, "recommend");
        attempt.candidate =
            candidate_from(experiment::row_of("recommend", point, one->child.get()));
      });
      one = running.erase(one);
    }
    if (InterruptGuard::signal() != 0) throw InterruptedError("interrupted");
  }
  for (Attempt& attempt : attempts) {
    if (!attempt.candidate) continue;
    const experiment::Row& row = attempt.candidate->row;
    if (!row.outcome) attempt.trouble = row.reason;
    if (row.outcome && selects_far_from_k(row)) attempt.trouble = "it selects far from k";
  }
}

void take_candidates(std::vector<Attempt> attempts, Recommendation& into) {
  for (Attempt& attempt : attempts) {
    if (attempt.refused) std::rethrow_exception(attempt.refused);
    if (attempt.candidate) {
      into.ranked.push_back(std::move(*attempt.candidate));
    } else {
      into.left_out.push_back({attempt.scheme, attempt.trouble});
    }
  }
}

}  // namespace thinwire::studies
