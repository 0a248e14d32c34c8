#include "sim/app/report/tables/recommendation.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace thinwire::report {

namespace {

Json candidate_record(const studies::Candidate& candidate, double best_s) {
  const experiment::Row& row = candidate.row;
  const experiment::TrainingOutcome& training = *row.outcome->training;
  const double time = training.mean.total().value();
  return {{"schema", "recommendation/1"},
          {"kind", "candidate"},
          {"scheme", row.point.scheme},
          {"iteration_s", time},
          {"over_best", time / best_s},
          {"computation_s", training.mean.computation.value()},
          {"sparsification_s", training.mean.sparsification.value()},
          {"communication_s", training.mean.communication.value()},
          {"samples_per_s", training.samples_per_s},
          {"dominant", name_of(*candidate.dominant)},
          {"reason", row.reason.empty() ? Json() : Json(row.reason)}};
}

Json crossover_record(const std::string& along, const std::string& towards,
                      const studies::Crossover& crossover) {
  const bool found = !crossover.winner.empty();
  return {{"schema", "recommendation/1"},
          {"kind", "crossover"},
          {"along", along},
          {"towards", towards},
          {"at", found ? Json(crossover.at) : Json()},
          {"scheme", found ? Json(crossover.winner) : Json()},
          {"gain", found ? Json(crossover.gain) : Json()},
          {"looked_to", crossover.looked_to > 0 ? Json(crossover.looked_to) : Json()}};
}

}  // namespace

std::vector<Json> candidate_records(const studies::Recommendation& recommendation) {
  std::vector<Json> records;
  double best_s = 0;
  for (const studies::Candidate& candidate : recommendation.ranked) {
    if (!candidate.row.outcome) continue;
    if (records.empty()) best_s = candidate.row.outcome->training->mean.total().value();
    records.push_back(candidate_record(candidate, best_s));
  }
  return records;
}

std::vector<Json> crossover_records(const studies::Recommendation& recommendation) {
  return {crossover_record("ranks", "more", recommendation.more_ranks),
          crossover_record("ranks", "fewer", recommendation.fewer_ranks),
          crossover_record("density", "higher", recommendation.higher_density),
          crossover_record("density", "lower", recommendation.lower_density)};
}

}  // namespace thinwire::report
