// Which algorithm Open MPI takes for a collective when nobody says.
#pragma once

#include <cstdint>
#include <string>

namespace thinwire::studies {

/// The algorithm that the component `tuned` of Open MPI 4.1 takes, by the names of
/// known_algorithms.cpp ("ring_ompi"); empty for a collective without a rule. `bytes` are those of an
/// allreduce's vector, of a reduce-scatter's input, and of a block of an allgather and an all-to-all.
/// Open MPI 5 has the same rules, but takes its component `han` on several nodes.
[[nodiscard]] std::string open_mpi_choice(const std::string& collective, std::int64_t ranks,
                                          std::int64_t bytes);

}  // namespace thinwire::studies
