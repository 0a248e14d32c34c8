// The thinwire program, for a main of your own: all its subcommands, with your schemes and
// sparsifiers in them. docs/tutorial-own-scheme.md walks through one.
//
//   int main(int argc, char** argv) {
//     thinwire::cli::Program program("own_scheme", "1.0");
//     program.add(ring_topk_scheme());
//     return program.run(argc, argv);
//   }
#pragma once

#include <string>
#include <vector>

#include "algorithms/scheme.hpp"

#ifndef THINWIRE_PACKAGE_SHARE  // the CMake package says where its files are
#define THINWIRE_PACKAGE_SHARE ""
#endif

namespace thinwire::cli {

/// One for each process.
class Program {
 public:
  /// Thinwire itself.
  Program() = default;
  /// A program that builds on Thinwire. Its name and version become part of version(), which every
  /// result carries, so that a sweep runs a point anew when either has changed. Let the version say
  /// what the code does, as a commit's hash does; where it is empty, nothing is ever reused.
  /// `share` is the folder of the platforms and so on that come with Thinwire.
  Program(std::string name, std::string version, const std::string& share = THINWIRE_PACKAGE_SHARE);

  /// A scheme of your own, as register_scheme() (algorithms/registry.hpp) takes it.
  void add(algorithms::SchemeInfo scheme);
  /// A sparsifier of your own, as register_sparsifier() takes it. The order in which things are
  /// added does not matter: sparsifiers are registered first.
  void add(algorithms::SparsifierInfo sparsifier);

  /// Does what the arguments say and gives the exit code: 0, all is well; 1, a simulation failed or
  /// a gate did not hold; 2, bad input, also where what was added is refused. Complaints are one
  /// line on stderr; throws nothing. To be called once.
  [[nodiscard]] int run(int argc, char** argv);

 private:
  int run_command(int argc, char** argv);

  std::string name_ = "thinwire";
  std::string version_ = {};
  std::vector<algorithms::SchemeInfo> schemes_ = {};
  std::vector<algorithms::SparsifierInfo> sparsifiers_ = {};
};

}  // namespace thinwire::cli
