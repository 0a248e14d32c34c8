#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"

namespace thinwire::cli {

void add_trace(Command& app) {
  Command command =
      app.add_subcommand("trace", "Inspect and check the selections of real trainings");
  command.require_subcommand(1, 1);
  add_trace_show(command);
  add_trace_check(command);
  add_trace_fit(command);
  add_trace_profile(command);
  add_trace_fill_in(command);
  add_trace_selection(command);
  add_trace_synth(command);
  command.footer(
      "A trace is one HDF5 file (docs/reference/traces.md). Simulations take one as their "
      "input:\n"
      "  thinwire run --scheme oktopk --trace training.h5\n"
      "Examples:\n"
      "  thinwire trace show training.h5\n"
      "  thinwire trace check training.h5 other.h5\n"
      "  thinwire trace fit training.h5 -o training.json\n"
      "  thinwire trace fill-in vgg16");
}

}  // namespace thinwire::cli
