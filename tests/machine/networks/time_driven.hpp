// A second simulator of the α-β machine, as plain as can be: time goes from one change to the next,
// and every message that is served anywhere is visited each time. No rank runs ahead; there is no
// lookahead, no virtual time and no coroutine. The engine under test must agree with it to rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"

namespace thinwire::test {

struct Operation;
using Script = std::vector<Operation>;

/// One thing that a rank does, or what it has started. Requests are numbered in the order in which
/// the script posts them.
struct Operation {
  enum class Kind { send, receive, wait_all, compute, start };

  Kind kind;
  int peer = 0;
  int tag = 0;
  std::int64_t words = 0;
  std::vector<std::size_t> requests = {};  ///< of wait_all; one or many
  double seconds = 0;
  Script program = {};  ///< of start

  static Operation send(int to, int tag, std::int64_t words) {
    return {.kind = Kind::send, .peer = to, .tag = tag, .words = words};
  }
  static Operation receive(int from, int tag) {
    return {.kind = Kind::receive, .peer = from, .tag = tag};
  }
  static Operation wait_all(std::vector<std::size_t> requests) {
    return {.kind = Kind::wait_all, .requests = std::move(requests)};
  }
  static Operation compute(double seconds) { return {.kind = Kind::compute, .seconds = seconds}; }
  static Operation start(Script program) {
    return {.kind = Kind::start, .program = std::move(program)};
  }
};

/// What a strand has seen: its clock after each operation, and the words of all that it received.
struct History {
  std::vector<double> clocks;
  std::vector<std::int64_t> words;
};
/// Whether the same happened, at times that differ by no more than rounding (1e-9).
[[nodiscard]] bool close(const std::vector<History>& a, const std::vector<History>& b);

/// Runs one script a rank, time-driven. Histories of the ranks, and then of their second strands.
[[nodiscard]] std::vector<History> run_time_driven(const std::vector<Script>& scripts,
                                                   const networks::LogGP& machine);

/// Runs one script a rank on a network. Histories as above.
[[nodiscard]] std::vector<History> run_on(Network& network, const std::vector<Script>& scripts);

}  // namespace thinwire::test
