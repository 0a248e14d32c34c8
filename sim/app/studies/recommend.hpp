// Which scheme a training should use: all candidates simulated, ranked, and where that changes.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/row.hpp"

namespace thinwire::studies {

struct RecommendSettings {
  /// A point with a workload; its scheme does not matter.
  Json point;
  std::vector<std::string> schemes;  ///< candidates
  bool crossovers = true;            ///< look for the P and the density at which another one wins
  int most_ranks = 1024;             ///< how far, and to twice the point's own at least
  std::function<void(const std::string& what)> progress = {};
};

/// What takes most of an iteration.
enum class Dominant : std::uint8_t { computation, sparsification, latency, bandwidth, waiting };
[[nodiscard]] std::string name_of(Dominant dominant);

struct Candidate {
  experiment::Row row;
  std::optional<Dominant> dominant;  ///< of what was simulated
};

/// Where another scheme wins: the next number of ranks, or the next density, that was looked at.
struct Crossover {
  double at = 0;         ///< if `winner`
  std::string winner;    ///< empty: none, as far as was looked
  double gain = 1;       ///< the present winner's time there over the new one's
  double looked_to = 0;  ///< the last that could be simulated; 0: none
};

struct Recommendation {
  std::vector<Candidate> ranked;  ///< by simulated time of an iteration; those that cannot run last
  std::vector<std::string> contenders;  ///< among which crossovers were looked for
  Crossover more_ranks;
  Crossover fewer_ranks;
  Crossover higher_density;
  Crossover lower_density;
};

/// Candidates where the user names none: dense ones, and one of each kind of sparse ones.
/// Hierarchical ones too on links and smpi, where nodes of several GPUs differ from the network
/// between them.
[[nodiscard]] std::vector<std::string> default_candidates(const Json& point);

/// Throws InputError where the point is none.
[[nodiscard]] Recommendation recommend(const RecommendSettings& settings);

}  // namespace thinwire::studies
