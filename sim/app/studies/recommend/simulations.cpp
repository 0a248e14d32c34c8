#include "sim/app/studies/recommend/simulations.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::studies {

namespace {

void announce(const RecommendSettings& settings, const Attempt& attempt, int ranks) {
  if (!settings.progress) return;
  std::string what = fmt::format("{}, P = {}", attempt.scheme, ranks);
  if (attempt.point.contains("density")) {
    what += fmt::format(", density {:.3g}", attempt.point.value("density", 0.0));
  }
  const double latency = attempt.point.value("latency_factor", 1.0);
  const double bandwidth = attempt.point.value("bandwidth_factor", 1.0);
  if (latency != 1) what += fmt::format(", latencies times {:.3g}", latency);
  if (bandwidth != 1) what += fmt::format(", bandwidths times {:.3g}", bandwidth);
  settings.progress(what);
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
  std::vector<plan::Point> points;
  std::vector<Attempt*> of_point;
  for (Attempt& attempt : attempts) {
    guarded(attempt, [&] {
      attempt.point["scheme"] = attempt.scheme;
      keep_options(attempt.point, algorithms::find_scheme(attempt.scheme));
      const plan::Point point = plan::point_from(attempt.point, "recommend");
      const double expected = run::estimated_wall_s(point);
      if (expected > settings.most_seconds) {
        attempt.trouble = fmt::format("its simulation would take about {:.0f} s", expected);
        return;
      }
      points.push_back(point);
      of_point.push_back(&attempt);
    });
  }
  const std::vector<run::EndedPoint> all = run::run_points(
      "recommend", points, {.processes = {.at_once = settings.jobs}, .alphabeta = false},
      {.started = [&](std::size_t i) { announce(settings, *of_point[i], points[i].ranks); }});
  for (std::size_t i = 0; i < all.size(); ++i) {
    guarded(*of_point[i], [&] {
      if (all[i].refused) std::rethrow_exception(all[i].refused);
      of_point[i]->candidate = candidate_from(all[i].row);
    });
  }
  for (Attempt& attempt : attempts) {
    if (!attempt.candidate) continue;
    const results::Row& row = attempt.candidate->row;
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
