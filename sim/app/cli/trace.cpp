#include "sim/app/cli/command.hpp"
#include "sim/app/cli/trace_commands.hpp"

namespace thinwire::cli {

void add_trace(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("trace", "Look at and check what real trainings selected");
  command.require_subcommand(1);
  add_trace_show(command, exit_code);
  add_trace_check(command, exit_code);
  add_trace_fit(command, exit_code);
  add_trace_profile(command, exit_code);
  add_trace_fill_in(command, exit_code);
  add_trace_selection(command, exit_code);
  add_trace_synth(command, exit_code);
  command.footer(
      "A trace is one HDF5 file, described in docs/traces.md. Simulations take one as their "
      "input:\n"
      "  thinwire run --scheme oktopk --trace training.h5\n"
      "Examples:\n"
      "  thinwire trace show training.h5\n"
      "  thinwire trace check training.h5 other.h5\n"
      "  thinwire trace fit training.h5 -o training.json\n"
      "  thinwire trace fill-in vgg16");
}

}  // namespace thinwire::cli
