// Declares the subcommands of `thinwire trace`, one file each.
#pragma once

#include "sim/app/cli/command_line.hpp"

namespace thinwire::cli {

void add_trace_show(Command& trace);
void add_trace_check(Command& trace);
void add_trace_fit(Command& trace);
void add_trace_profile(Command& trace);
void add_trace_fill_in(Command& trace);
void add_trace_selection(Command& trace);
void add_trace_synth(Command& trace);

}  // namespace thinwire::cli
