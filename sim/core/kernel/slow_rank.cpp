#include "sim/core/kernel/slow_rank.hpp"

#include <utility>

namespace thinwire::inline kernel {

namespace {

Task<Message> run_slowly(Communicator& strand, double factor, StartedProgram program) {
  SlowRank slow(strand, factor);
  co_return co_await program(slow);
}

}  // namespace

Request SlowRank::start_program(StartedProgram program) {
  return start_on_parent([factor = factor_, program = std::move(program)](Communicator& strand) {
    return run_slowly(strand, factor, program);
  });
}

}  // namespace thinwire::inline kernel
