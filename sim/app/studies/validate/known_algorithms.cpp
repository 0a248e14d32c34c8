#include "sim/app/studies/validate/known_algorithms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/plan/setting_members.hpp"
#include "sim/app/studies/validate/measured/timed_lines.hpp"
#include "sim/app/studies/validate/mislabelled.hpp"
#include "sim/app/studies/validate/open_mpi_choice.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::studies {

namespace {

struct KnownAlgorithm {
  std::string_view library;  ///< empty: whichever
  std::string_view collective;
  std::string_view algorithm;
  std::string_view scheme;  ///< empty: none is this algorithm
  std::string_view why_none = {};
  std::int64_t protocol = -1;  ///< the option of NCCL's schemes; -1: they have none
};

constexpr std::string_view kOverPointToPoint = "";
constexpr std::string_view kOpenMpi = "OMPI";
constexpr std::string_view kCrayMpich = "CRAY_MPICH";
constexpr std::string_view kFujitsu = "FJMPI";
constexpr std::string_view kNccl = "NCCL";
constexpr std::string_view kTrinaryx =
    "no scheme sums in pipelined trees along the dimensions of a torus";

/// Open MPI's names are the values of coll_tuned_*_algorithm in 4.1. Its all-to-all linear_sync posts as
/// many requests at once as coll_tuned_alltoall_algorithm_max_requests allows, which has no limit
/// by default, so it is the linear one. Names that end in _over are the same schedules written over
/// point-to-point by the authors of the benchmark. Fujitsu MPI's, on Fugaku, are the values of
/// coll_select_allreduce_algorithm (scripts of D. De Sensi's Swing, NSDI 2024); Trinaryx is of
/// Matsumoto et al., SACSIS 2012.
constexpr std::array kKnown{
    KnownAlgorithm{kOpenMpi, "allreduce", "recursive_doubling_ompi", "dense_recursive_doubling"},
    KnownAlgorithm{kOpenMpi, "allreduce", "ring_ompi", "dense_ring"},
    KnownAlgorithm{kOpenMpi, "allreduce", "ring_segmented_ompi", "dense_ring_segmented"},
    KnownAlgorithm{kOpenMpi, "allreduce", "rabenseifner_ompi", "dense_rabenseifner"},
    KnownAlgorithm{kOpenMpi, "allreduce", "nonoverlapping_ompi", "dense_nonoverlapping"},
    KnownAlgorithm{kOpenMpi, "allgather", "ring_ompi", "allgather_ring"},
    KnownAlgorithm{kOpenMpi, "allgather", "recursive_doubling_ompi",
                   "allgather_recursive_doubling"},
    KnownAlgorithm{kOpenMpi, "allgather", "neighbor_ompi", "allgather_neighbor_exchange"},
    KnownAlgorithm{kOpenMpi, "allgather", "bruck_ompi", "allgather_bruck"},
    KnownAlgorithm{kOpenMpi, "reduce_scatter", "recursive_halving_ompi",
                   "reduce_scatter_recursive_halving"},
    KnownAlgorithm{kOpenMpi, "reduce_scatter", "ring_ompi", "reduce_scatter_ring"},
    KnownAlgorithm{kOpenMpi, "reduce_scatter", "nonoverlapping_ompi", "",
                   "no scheme reduces to one rank and scatters"},
    KnownAlgorithm{kOpenMpi, "reduce_scatter", "butterfly_ompi", "",
                   "no scheme is Open MPI's butterfly"},
    KnownAlgorithm{kOpenMpi, "alltoall", "linear_ompi", "alltoall_linear"},
    KnownAlgorithm{kOpenMpi, "alltoall", "linear_sync_ompi", "alltoall_linear"},
    KnownAlgorithm{kOpenMpi, "alltoall", "pairwise_ompi", "alltoall_pairwise"},
    KnownAlgorithm{kOpenMpi, "alltoall", "modified_bruck_ompi", "alltoall_bruck"},
    KnownAlgorithm{kCrayMpich, "allreduce", "recursive_doubling_mpich", "dense_recursive_doubling"},
    KnownAlgorithm{kCrayMpich, "allreduce", "rabenseifner_mpich", "dense_rabenseifner"},
    KnownAlgorithm{kCrayMpich, "allgather", "ring_mpich", "allgather_ring"},
    KnownAlgorithm{kCrayMpich, "allgather", "recursive_doubling_mpich",
                   "allgather_recursive_doubling"},
    KnownAlgorithm{kCrayMpich, "allgather", "brucks_mpich", "allgather_bruck"},
    KnownAlgorithm{kFujitsu, "allreduce", "recursive_doubling", "dense_recursive_doubling"},
    KnownAlgorithm{kFujitsu, "allreduce", "ring", "dense_ring"},
    KnownAlgorithm{kFujitsu, "allreduce", "segmented_ring", "dense_ring_segmented"},
    KnownAlgorithm{kFujitsu, "allreduce", "nonoverlapping", "dense_nonoverlapping"},
    KnownAlgorithm{kFujitsu, "allreduce", "trix3", "", kTrinaryx},
    KnownAlgorithm{kFujitsu, "allreduce", "trix6", "", kTrinaryx},
    KnownAlgorithm{kNccl, "allreduce", "default_nccl", "dense_auto"},
    KnownAlgorithm{kNccl, "allreduce", "ring", "nccl_ring", {}, 3},
    KnownAlgorithm{kNccl, "allreduce", "tree", "nccl_tree", {}, 3},
    KnownAlgorithm{kNccl, "allreduce", "ring_ll", "nccl_ring", {}, 0},
    KnownAlgorithm{kNccl, "allreduce", "tree_ll", "nccl_tree", {}, 0},
    KnownAlgorithm{kNccl, "allreduce", "ring_ll128", "nccl_ring", {}, 1},
    KnownAlgorithm{kNccl, "allreduce", "tree_ll128", "nccl_tree", {}, 1},
    KnownAlgorithm{kNccl, "allreduce", "ring_simple", "nccl_ring", {}, 2},
    KnownAlgorithm{kNccl, "allreduce", "tree_simple", "nccl_tree", {}, 2},
    KnownAlgorithm{kNccl, "allgather", "default_nccl", "allgather_nccl_ring", {}, 3},
    KnownAlgorithm{kNccl, "allgather", "ring", "allgather_nccl_ring", {}, 3},
    KnownAlgorithm{kNccl, "allgather", "ring_ll", "allgather_nccl_ring", {}, 0},
    KnownAlgorithm{kNccl, "allgather", "ring_ll128", "allgather_nccl_ring", {}, 1},
    KnownAlgorithm{kNccl, "allgather", "ring_simple", "allgather_nccl_ring", {}, 2},
    KnownAlgorithm{kNccl, "reduce_scatter", "default_nccl", "reduce_scatter_nccl_ring", {}, 3},
    KnownAlgorithm{kNccl, "reduce_scatter", "ring", "reduce_scatter_nccl_ring", {}, 3},
    KnownAlgorithm{kNccl, "reduce_scatter", "ring_ll", "reduce_scatter_nccl_ring", {}, 0},
    KnownAlgorithm{kNccl, "reduce_scatter", "ring_ll128", "reduce_scatter_nccl_ring", {}, 1},
    KnownAlgorithm{kNccl, "reduce_scatter", "ring_simple", "reduce_scatter_nccl_ring", {}, 2},
    KnownAlgorithm{kOverPointToPoint, "allreduce", "recursive_doubling_over",
                   "dense_recursive_doubling"},
    KnownAlgorithm{kOverPointToPoint, "allreduce", "ring_over", "dense_ring"},
    KnownAlgorithm{kOverPointToPoint, "allreduce", "rabenseifner_over", "dense_rabenseifner"},
    KnownAlgorithm{kOverPointToPoint, "allgather", "ring_over", "allgather_ring"},
    KnownAlgorithm{kOverPointToPoint, "allgather", "recursive_doubling_over",
                   "allgather_recursive_doubling"},
    KnownAlgorithm{kOverPointToPoint, "allgather", "k_bruck_over", "",
                   "the radix of the measured runs is not recorded"},
    KnownAlgorithm{kOverPointToPoint, "reduce_scatter", "ring_over", "reduce_scatter_ring"},
    KnownAlgorithm{kOverPointToPoint, "reduce_scatter", "recursive_halving_over",
                   "reduce_scatter_recursive_halving"},
    KnownAlgorithm{kOverPointToPoint, "reduce_scatter", "recursive_distance_doubling_over", "",
                   "no scheme exchanges with the nearest rank first"}};

const KnownAlgorithm* find_known(const MeasuredRow& row) {
  const auto* const found = std::ranges::find_if(kKnown, [&](const KnownAlgorithm& known) {
    return (known.library.empty() || lower(known.library) == lower(row.library)) &&
           known.collective == row.collective && known.algorithm == lower(row.algorithm);
  });
  return found == kKnown.end() ? nullptr : found;
}

/// The names that a row of this library and collective may have.
std::vector<std::string> algorithms_of(const MeasuredRow& row) {
  std::vector<std::string> names;
  for (const KnownAlgorithm& known : kKnown) {
    if (known.collective != row.collective) continue;
    if (known.library.empty() || lower(known.library) == lower(row.library)) {
      names.emplace_back(known.algorithm);
    }
  }
  return names;
}

/// Whether there is a dense scheme of this name: only those carry a whole vector.
bool has_scheme(const std::string& name) {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
      if (scheme.dense) all.insert(scheme.name);
    }
    return all;
  }();
  return names.contains(name);
}

/// Whether a scheme is named as one of this collective: allgather_ring. Those of an allreduce are
/// named after what they do with the gradient.
bool is_of(std::string_view scheme, std::string_view collective) {
  const auto begins = [&](const std::string& other) {
    return scheme == other || scheme.starts_with(other + "_");
  };
  if (collective != "allreduce") return begins(std::string(collective));
  return std::ranges::none_of(known_collectives(), begins);
}

constexpr const char* kSegment = "segment_bytes";  // the option of schemes that send in segments
constexpr const char* kNotSegmented = "no scheme segments this algorithm";

bool has_segments(const std::string& scheme) {
  return algorithms::has_option(algorithms::find_scheme(scheme).options, kSegment);
}

std::string choice_of_open_mpi(const MeasuredRow& row) {
  const std::int64_t ranks = std::int64_t{row.nodes} * row.tasks_per_node;
  const bool of_block = row.collective == "allgather" || row.collective == "alltoall";
  return open_mpi_choice(row.collective, ranks, 4 * row.elements / (of_block ? ranks : 1));
}

SchemeOfRow none(std::string why) { return {.scheme = {}, .why_none = std::move(why)}; }

}  // namespace

SchemeOfRow scheme_of(const MeasuredRow& row) {
  if (row.point) return {.scheme = row.point->scheme->name, .options = row.point->options};
  if (std::ranges::find(known_collectives(), row.collective) == known_collectives().end()) {
    return none(fmt::format("'{}' is no collective that is simulated; these are {}", row.collective,
                            fmt::join(known_collectives(), ", ")));
  }
  if (row.algorithm.empty()) {
    MeasuredRow chosen = row;
    if (lower(row.library) == lower(kOpenMpi)) chosen.algorithm = choice_of_open_mpi(row);
    if (!chosen.algorithm.empty()) return scheme_of(chosen);
    return none(
        "no algorithm is named; give it in its column, or for a text FILE,algorithm=NAME, or "
        "FILE,library=OMPI for what Open MPI 4.1 takes");
  }
  const KnownAlgorithm* const known = find_known(row);
  if (known == nullptr) {
    if (is_of_the_library(row)) {
      return none("the library chose the algorithm, and the row does not say which");
    }
    if (is_of(row.algorithm, row.collective) && has_scheme(row.algorithm)) {
      SchemeOfRow own{.scheme = row.algorithm};
      if (row.segment == 0) return own;
      if (!has_segments(row.algorithm)) return none(kNotSegmented);
      own.options[kSegment] = row.segment;
      return own;
    }
    if (row.library.empty()) {
      return none(fmt::format("'{}' is no scheme for {}; name its library, as in library=OMPI",
                              row.algorithm, row.collective));
    }
    return none(fmt::format("no known algorithm of {} for {}{}", row.library, row.collective,
                            did_you_mean(row.algorithm, algorithms_of(row))));
  }
  if (known->scheme.empty()) return none(std::string(known->why_none));
  SchemeOfRow found{.scheme = std::string(known->scheme)};
  if (known->protocol >= 0) found.options["protocol"] = known->protocol;
  if (found.scheme == "dense_ring_segmented") {
    // Without a segment size, which is the default, Open MPI runs its ring that is not segmented:
    // ompi_coll_base_allreduce_intra_ring_segmented, "count less than size * segcount".
    if (row.segment == 0) {
      found.scheme = "dense_ring";
    } else {
      found.options[kSegment] = row.segment;
    }
  } else if (row.segment > 0) {
    return none(kNotSegmented);
  }
  if (has_scheme(found.scheme)) return found;
  return none(fmt::format("this program does not have the scheme {}", found.scheme));
}

void add_options_of(const Json& settings, SchemeOfRow& found) {
  if (!settings.contains("options")) return;
  plan::Point machine;
  plan::take_options(machine, settings.at("options"));
  for (const auto& [name, value] : machine.options) {
    if (algorithms::has_option(algorithms::find_scheme(found.scheme).options, name)) {
      found.options.try_emplace(name, value);
    }
  }
}

}  // namespace thinwire::studies
