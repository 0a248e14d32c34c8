// The main program of a test that runs as MPI processes.
#pragma once

#include <mpi.h>

#include <optional>

#include "sim/core/gradient/wire.hpp"
#include "sim/machine/networks/mpi/mpi.hpp"
#include "tests/support/leaks.hpp"

namespace thinwire::test {

/// Starts MPI, runs `program` on the network of all processes, and looks for leaks. Returns the
/// exit code.
template <class Program>
int on_processes(int argc, char** argv, Program program) {
  std::optional<IgnoredLeaks> starting(std::in_place);
  const networks::MpiSession session(argc, argv);
  starting.reset();
  {
    const GradientWire wire;
    networks::MpiNetwork mpi(MPI_COMM_WORLD, wire);
    program(mpi);
  }
  check_leaks();
  return 0;
}

}  // namespace thinwire::test
