// Recommends a scheme for a training: simulates all candidates, ranks them, and finds where the
// ranking changes.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/row.hpp"

namespace thinwire::studies {

struct RecommendSettings {
  /// A point with a workload; its scheme is ignored.
  Json point;
  std::vector<std::string> schemes;  ///< candidates
  bool crossovers = true;            ///< find the P and the density at which another scheme wins
  int most_ranks = 1024;             ///< largest P to try; at least twice the point's own P
  std::function<void(const std::string& what)> progress = {};  ///< called before each simulation
};

/// The component that takes the largest share of an iteration.
enum class Dominant : std::uint8_t { computation, sparsification, latency, bandwidth, waiting };
[[nodiscard]] std::string name_of(Dominant dominant);

struct Candidate {
  experiment::Row row;
  std::optional<Dominant> dominant;  ///< if it was simulated
};

/// The number of ranks or the density, among those tried, at which another scheme wins first.
struct Crossover {
  double at = 0;         ///< if `winner`
  std::string winner;    ///< empty: none in the range tried
  double gain = 1;       ///< the time of the present winner over that of the new one
  double looked_to = 0;  ///< the last value that could be simulated; 0: none
};

struct Recommendation {
  std::vector<Candidate> ranked;        ///< by simulated iteration time; infeasible ones last
  std::vector<std::string> contenders;  ///< the candidates for crossovers
  Crossover more_ranks;
  Crossover fewer_ranks;
  Crossover higher_density;
  Crossover lower_density;
};

/// The default candidates: dense schemes and one sparse scheme of each kind; on links and smpi,
/// where nodes of several GPUs differ from the network between them, also hierarchical ones.
[[nodiscard]] std::vector<std::string> default_candidates(const Json& point);

/// Throws InputError if the point is invalid.
[[nodiscard]] Recommendation recommend(const RecommendSettings& settings);

}  // namespace thinwire::studies
