#include "sim/app/report/tables/recommendation.hpp"

#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace thinwire::report
