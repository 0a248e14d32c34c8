// thinwire-mpi: 'thinwire measure', linked with a real MPI library. SMPI is not part of it, because
// SimGrid's library has functions of the same names.
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "sim/app/cli/program.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/wire.hpp"
#include "sim/machine/networks/mpi/launcher.hpp"
#include "sim/machine/networks/mpi/mpi.hpp"

namespace {

/// Lets process 0 alone print, and returns where the others say why they end everything.
int silence_all_but_first(int rank) {
  const int errors = dup(STDERR_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  if (rank > 0 && nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  if (nowhere >= 0) close(nowhere);
  return errors;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<thinwire::networks::MpiSession> session;
  try {
    session.emplace(argc, argv);
  } catch (const thinwire::InputError& error) {
    if (thinwire::networks::launched_rank() == 0) {
      thinwire::cli::say("thinwire: {}", error.what());
    }
    return thinwire::cli::kBadInput;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int errors = silence_all_but_first(rank);
  const thinwire::GradientWire wire;
  thinwire::cli::Program program;
  program.measure_with({.make =
                            [&wire](const thinwire::networks::WaitingSettings& waiting) {
                              auto network = std::make_unique<thinwire::networks::MpiNetwork>(
                                  MPI_COMM_WORLD, wire);
                              network->wait_as(waiting);
                              return network;
                            },
                        .end_all =
                            [errors](const std::string& reason) {
                              dup2(errors, STDERR_FILENO);
                              thinwire::cli::say("thinwire: {}", reason);
                              MPI_Abort(MPI_COMM_WORLD, thinwire::cli::kFailed);
                              std::abort();
                            }});
  return program.run(argc, argv);
}
