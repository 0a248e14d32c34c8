#include "sim/app/studies/recommend/candidate.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/registry.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/studies/recommend/memory.hpp"
#include "sim/machine/workloads/activation_sums.hpp"

namespace thinwire::studies {

namespace {

Dominant dominant_in(const results::Row& row) {
  const results::Outcome& outcome = *row.outcome;
  const workloads::IterationParts& mean = outcome.training->mean;
  const double communication = mean.communication.value();
  const results::PhaseCost tensor = outcome.phase(workloads::kTensorParallel);
  // The parts follow the formulas, for the rank that it cost most; the rest is waiting for others,
  // sums and copies.
  const double latency = std::min(
      communication, static_cast<double>(outcome.messages_received.max - tensor.messages_received) *
                         outcome.machine.alpha.value());
  const double bandwidth =
      std::min(communication - latency,
               static_cast<double>(outcome.words_received.max - tensor.words_received.value()) *
                   outcome.machine.beta_per_word.value());
  const std::array<std::pair<double, Dominant>, 6> parts{
      {{mean.computation.value(), Dominant::computation},
       {mean.sparsification.value(), Dominant::sparsification},
       {mean.tensor_parallel.value(), Dominant::tensor_parallel},
       {latency, Dominant::latency},
       {bandwidth, Dominant::bandwidth},
       {communication - latency - bandwidth, Dominant::waiting}}};
  return std::ranges::max_element(parts, {}, &std::pair<double, Dominant>::first)->second;
}

/// The components of the sum, relative to all.
double sum_density_of(const results::Row& row) {
  return static_cast<double>(row.outcome->result_components) /
         static_cast<double>(row.point.space.components);
}

}  // namespace

std::string name_of(Dominant dominant) {
  constexpr std::array kNames{"computation", "sparsification", "tensor_parallel",
                              "latency",     "bandwidth",      "waiting"};
  return kNames.at(static_cast<std::size_t>(dominant));
}

bool Candidate::is_advisable() const {
  return row.outcome && fits && !selects_far_from_k(row) &&
         convergence.convergence != algorithms::Convergence::worse;
}

std::vector<std::string> default_candidates(bool nodes) {
  std::vector<std::string> names;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    const bool knows_nodes = algorithms::has_option(scheme.options, algorithms::kNodeOption);
    if (scheme.collective_kind == algorithms::Collective::allreduce && scheme.dense &&
        !scheme.in_switches && knows_nodes == nodes) {
      names.push_back(scheme.name);
    }
  }
  const std::vector<std::string> sparse =
      nodes ? std::vector<std::string>{"hierarchical_oktopk", "hierarchical_split_allgather"}
            : std::vector<std::string>{"topka",
                                       "topkdsa",
                                       "gtopk",
                                       "oktopk",
                                       "ssar_recursive_double",
                                       "ssar_split_allgather",
                                       "dsar_split_allgather",
                                       "exdyna",
                                       "cltk",
                                       "zen",
                                       "spardl"};
  names.insert(names.end(), sparse.begin(), sparse.end());
  return names;
}

Candidate candidate_from(results::Row row) {
  Candidate candidate{.row = std::move(row)};
  const plan::Point& point = candidate.row.point;
  candidate.convergence = algorithms::convergence_of(point.scheme->name);
  candidate.measured = algorithms::measured_convergence(
      point.scheme->name,
      static_cast<double>(point.k) / static_cast<double>(point.space.components),
      point.data_ranks());
  if (!candidate.row.outcome) return candidate;
  candidate.dominant = dominant_in(candidate.row);
  candidate.sum_density = sum_density_of(candidate.row);
  candidate.memory_bytes = memory_of(candidate.row);
  return candidate;
}

double time_of(const results::Row& row) {
  return row.outcome && !selects_far_from_k(row) ? row.outcome->training->mean.total().value()
                                                 : std::numeric_limits<double>::infinity();
}

bool is_lossless(const Candidate& candidate) {
  return candidate.convergence.convergence == algorithms::Convergence::exact;
}

}  // namespace thinwire::studies
