// What the mpirun of an MPI library tells the processes that it starts. Valid without MPI.
#pragma once

#include <array>
#include <cstdlib>

#include "sim/core/base/numbers.hpp"

namespace thinwire::networks {

/// The environment of the processes of one library.
struct MpiLauncher {
  const char* library;
  const char* size;  ///< names of variables
  const char* rank;
};
inline constexpr std::array<MpiLauncher, 2> kMpiLaunchers{
    {{"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
     {"MPICH", "PMI_SIZE", "PMI_RANK"}}};

/// The value of a variable of the environment that is a number; `otherwise` if it is none.
[[nodiscard]] inline int number_in_environment(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : parse_number<int>(text).value_or(otherwise);
}

/// The number of this process, 0 if nothing says so. Of what all of them would print, process 0
/// prints it.
[[nodiscard]] inline int launched_rank() {
  for (const MpiLauncher& launcher : kMpiLaunchers) {
    if (const int rank = number_in_environment(launcher.rank, 0); rank > 0) return rank;
  }
  return 0;
}

}  // namespace thinwire::networks
