#include "sim/app/report/tables/recommendation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/report/tables/formats.hpp"
#include "sim/app/studies/recommend/confidence.hpp"

namespace thinwire::report {

namespace {

Json candidate_record(const studies::Candidate& candidate, double best_s) {
  const results::Row& row = candidate.row;
  const results::TrainingOutcome& training = *row.outcome->training;
  const double time = training.mean.total().value();
  const auto& measured = candidate.measured;
  return {{"schema", "recommendation/1"},
          {"kind", "candidate"},
          {"scheme", row.point.scheme->name},
          {"iteration_s", time},
          {"over_best", time / best_s},
          {"computation_s", training.mean.computation.value()},
          {"sparsification_s", training.mean.sparsification.value()},
          {"tensor_parallel_s", training.mean.tensor_parallel.value()},
          {"communication_s", training.mean.communication.value()},
          {"samples_per_s", training.samples_per_s},
          {"dominant", name_of(*candidate.dominant)},
          {"sum_density", candidate.sum_density},
          {"memory_bytes", candidate.memory_bytes},
          {"fits", candidate.fits},
          {"convergence", name_of(candidate.convergence.convergence)},
          {"reported", candidate.convergence.text},
          {"reported_in", candidate.convergence.source},
          {"measured_on", measured ? Json(measured->model) : Json()},
          {"measured_density", measured ? Json(measured->density) : Json()},
          {"measured_ranks", measured ? Json(measured->ranks) : Json()},
          {"measured_seeds", measured ? Json(measured->seeds) : Json()},
          {"measured_points", measured ? Json(measured->points_above_dense) : Json()},
          {"measured_low", measured ? Json(measured->low) : Json()},
          {"measured_high", measured ? Json(measured->high) : Json()},
          {"reason", row.reason.empty() ? Json() : Json(row.reason)}};
}

Json crossover_record(const studies::Crossover& crossover) {
  const bool found = !crossover.winner.empty();
  return {{"schema", "recommendation/1"},
          {"kind", "crossover"},
          {"along", crossover.along},
          {"towards", crossover.up ? "higher" : "lower"},
          {"at", found ? Json(crossover.at) : Json()},
          {"scheme", found ? Json(crossover.winner) : Json()},
          {"gain", found ? Json(crossover.gain) : Json()},
          {"looked_to", crossover.looked_to > 0 ? Json(crossover.looked_to) : Json()},
          {"ended", crossover.ended}};
}

}  // namespace

std::vector<Json> candidate_records(const studies::Recommendation& recommendation) {
  std::vector<Json> records;
  double best_s = 0;
  for (const studies::Candidate& candidate : recommendation.ranked) {
    if (!candidate.row.outcome) continue;
    const double time = candidate.row.outcome->training->mean.total().value();
    if (records.empty()) best_s = time;
    records.push_back(candidate_record(candidate, best_s));
  }
  return records;
}

std::vector<Json> slower_records(const studies::Recommendation& recommendation) {
  std::vector<Json> records;
  for (const studies::Slower& one : recommendation.slower) {
    records.push_back({{"schema", "recommendation/1"},
                       {"kind", "slower"},
                       {"scheme", one.scheme},
                       {"over_s", one.over_s}});
  }
  return records;
}

std::vector<Json> crossover_records(const studies::Recommendation& recommendation) {
  std::vector<Json> records;
  for (const studies::Crossover& crossover : recommendation.crossovers) {
    records.push_back(crossover_record(crossover));
  }
  return records;
}

std::vector<Json> assumption_records(const studies::Recommendation& recommendation) {
  std::vector<Json> records;
  const auto add = [&](const char* kind, const std::vector<studies::Remark>& all) {
    for (const studies::Remark& one : all) {
      records.push_back({{"schema", "recommendation/1"},
                         {"kind", kind},
                         {"what", one.what},
                         {"value", one.value}});
    }
  };
  add("assumption", recommendation.assumptions);
  add("left_out", recommendation.left_out);
  return records;
}

std::vector<Json> forecast_records(const studies::Forecast& forecast) {
  std::vector<Json> records;
  for (const studies::ForecastCandidate& one : forecast.candidates) {
    records.push_back({{"schema", "recommendation/1"},
                       {"kind", "forecast"},
                       {"scheme", one.scheme},
                       {"iteration_s", one.time_s}});
  }
  return records;
}

std::string answer_text(const studies::Recommendation& result) {
  const studies::Candidate* const advice = result.advice();
  if (advice == nullptr) return {};
  const plan::Point& point = advice->row.point;
  std::string text =
      fmt::format("to train {} on {} ranks{}, use {}: an iteration takes {}", point.workload.model,
                  point.ranks, point.platform.empty() ? "" : fmt::format(" of {}", point.platform),
                  point.scheme->name, seconds_text(studies::time_of(advice->row)));
  const studies::Candidate* dense = nullptr;
  const studies::Candidate* fastest = nullptr;
  const studies::Candidate* less = nullptr;  // the fastest that sends less
  for (const studies::Candidate& candidate : result.ranked) {
    if (!candidate.is_advisable()) continue;
    if (fastest == nullptr) fastest = &candidate;
    const studies::Candidate*& first = studies::is_lossless(candidate) ? dense : less;
    if (first == nullptr) first = &candidate;
  }
  if (dense == nullptr) return text + ".";
  if (dense == advice) {
    if (fastest == advice && less != nullptr) {
      return text +
             fmt::format(", and sending less does not pay: {} takes {:.1f}% longer.",
                         less->row.point.scheme->name,
                         100 * (studies::time_of(less->row) / studies::time_of(advice->row) - 1));
    }
    if (fastest == advice) return text + ", and nothing advisable is faster.";
    return text +
           fmt::format(", and what sends less gains {:.1f}% at most.",
                       100 * (studies::time_of(advice->row) / studies::time_of(fastest->row) - 1));
  }
  const bool close = studies::too_close(*advice, *dense);
  return text + fmt::format(", {:.3g} times as fast as with {}, the best that sends everything{}.",
                            studies::time_of(dense->row) / studies::time_of(advice->row),
                            dense->row.point.scheme->name,
                            close ? "; the two are too close to call" : "");
}

}  // namespace thinwire::report
