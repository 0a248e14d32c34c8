// Which algorithm of a communication library is the fastest by the simulation, as files that the
// library loads: the CSV of NCCL's example tuner plugin, and Open MPI's dynamic rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/app/results/row.hpp"
#include "sim/app/run/sweep.hpp"

namespace thinwire::studies {

enum class RulesOf : std::uint8_t { nccl, open_mpi };

/// The fastest algorithm of a library for a number of ranks and a range of sizes.
struct LibraryRule {
  std::string collective;  ///< allreduce
  int ranks = 0;
  std::int64_t least_bytes = 0;
  std::int64_t most_bytes = 0;  ///< of the last range: kAnySize
  std::string algorithm;        ///< as the library's file names it: "ring", or a number
  std::int64_t segment = 0;     ///< bytes; 0: not segmented
  std::string scheme;
  std::string protocol = {};  ///< NCCL's: "ll", "ll128" or "simple"
  /// Over the simulated sizes of the range: the least time of the other algorithms divided by the
  /// time of this one, geometric mean. 1 if there is no other.
  double gain = 1;
};

inline constexpr std::int64_t kAnySize = INT64_MAX;

/// The points that decide: the library's algorithms that are schemes here, for all ranks and sizes,
/// given in components of 4 bytes. `point` holds the other settings.
[[nodiscard]] run::Sweep sweep_of_rules(RulesOf library, const Json& point,
                                        const std::vector<int>& ranks,
                                        const std::vector<std::int64_t>& components);

/// The rules, by collective and ranks, sizes ascending and without gaps from 0 to kAnySize. From one
/// size to the next the winner changes at their geometric mean. Rows without a result take no part;
/// throws SimulationError if no row has one.
[[nodiscard]] std::vector<LibraryRule> rules_of(RulesOf library,
                                                const std::vector<results::Row>& rows);

/// collective,min,max,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff (NVIDIA/nccl
/// plugins/tuner/example). Channels are left to NCCL.
[[nodiscard]] std::string nccl_tuner_text(const std::vector<LibraryRule>& rules,
                                          const std::string& origin);
/// The rules of coll_tuned_dynamic_rules_filename of Open MPI 4: by collective, size of the
/// communicator and of the message, the algorithm, its fan-out and its segment. A rule holds for
/// larger communicators, up to the next.
[[nodiscard]] std::string open_mpi_rules_text(const std::vector<LibraryRule>& rules,
                                              const std::string& origin);

}  // namespace thinwire::studies
