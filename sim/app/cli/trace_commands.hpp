// The subcommands of `thinwire trace`, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace thinwire::cli {

void add_trace_show(CLI::App& trace, int& exit_code);
void add_trace_check(CLI::App& trace, int& exit_code);
void add_trace_fit(CLI::App& trace, int& exit_code);
void add_trace_profile(CLI::App& trace, int& exit_code);
void add_trace_fill_in(CLI::App& trace, int& exit_code);
void add_trace_selection(CLI::App& trace, int& exit_code);
void add_trace_synth(CLI::App& trace, int& exit_code);

}  // namespace thinwire::cli
