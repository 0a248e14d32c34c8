// The thinwire program, for your own main: all its subcommands, with your schemes and sparsifiers
// added. docs/tutorials/own-scheme.md walks through one.
//
//   int main(int argc, char** argv) {
//     thinwire::cli::Program program("own_scheme", "1.0");
//     program.add(ring_topk_scheme());
//     return program.run(argc, argv);
//   }
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/machine/networks/mpi/process_network.hpp"

#ifndef THINWIRE_PACKAGE_SHARE  // the CMake package says where its files are
#define THINWIRE_PACKAGE_SHARE ""
#endif

namespace thinwire::cli {

/// The real processes of a program that is built with an MPI library.
struct RealProcesses {
  /// Makes the network of all processes.
  std::function<std::unique_ptr<networks::ProcessNetwork>(const networks::WaitingSettings& waiting)>
      make = {};
  /// Says why, and ends all processes. Does not return.
  std::function<void(const std::string& reason)> end_all = {};
};

/// Runs a program. Returns what `run` returns, or the exit code of the error that it throws, which is
/// told after the program's name.
[[nodiscard]] int exit_code_of(const std::string& name, const std::function<int()>& run);

/// A process may have only one Program.
class Program {
 public:
  /// Thinwire itself.
  Program() = default;
  /// A program that builds on Thinwire. Its name and version become part of version(), which every
  /// result carries, so that a sweep runs a point anew when either has changed. The version should
  /// identify the code, like a commit hash; if it is empty, results are reused only by the same
  /// executable. `share` is the folder of the platforms and other files that are shipped with
  /// Thinwire.
  Program(std::string name, std::string version, const std::string& share = THINWIRE_PACKAGE_SHARE);

  /// Adds your own scheme, as register_scheme() (algorithms/registry.hpp) takes it.
  void add(algorithms::SchemeInfo scheme);
  /// Adds your own sparsifier, as register_sparsifier() takes it. The order of the calls does not
  /// matter: sparsifiers are registered first.
  void add(algorithms::SparsifierInfo sparsifier);

  /// Makes this the program that measures on real processes: 'measure' is its only subcommand.
  void measure_with(RealProcesses processes) { processes_ = std::move(processes); }

  /// Executes the arguments and returns the exit code: 0, success; 1, a simulation failed or a
  /// tolerance was exceeded; 2, bad input, also if an added scheme or sparsifier is refused. Error
  /// messages are one line on stderr; throws nothing. Must be called only once.
  [[nodiscard]] int run(int argc, char** argv);

 private:
  int run_command(int argc, char** argv);

  std::string name_ = "thinwire";
  std::string version_ = {};
  std::vector<algorithms::SchemeInfo> schemes_ = {};
  std::vector<algorithms::SparsifierInfo> sparsifiers_ = {};
  RealProcesses processes_ = {};
};

}  // namespace thinwire::cli
