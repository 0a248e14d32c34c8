#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"
#include "sim/app/report/tables/profile_report.hpp"
#include "sim/core/base/errors.hpp"
#include "traces/fit.hpp"
#include "traces/shipped.hpp"

namespace thinwire::cli {

namespace {

struct TraceFitFlags {
  std::string trace;
  std::string output;
  std::string name;
  int parts = 64;
  report::View view;
};

int fit(const TraceFitFlags& flags) {
  if (flags.parts < 1 || flags.parts > 65536) {
    throw InputError("--parts: {} is not valid; expected a whole number, at least 1, at most 65536",
                     flags.parts);
  }
  const std::string path = traces::kTraces.file(flags.trace);
  check_output(flags.output, {path});
  const std::string name =
      flags.name.empty() ? std::filesystem::path(path).stem().string() : flags.name;
  const traces::TraceReader trace(path);
  traces::ProfileFit fitted;
  try {
    fitted = traces::fit_profile(trace, {.name = name, .parts = flags.parts});
  } catch (const InputError& error) {
    const std::string text = error.what();
    // Messages of the reader name the file already.
    throw InputError(text.starts_with(path) ? text : fmt::format("{}: {}", path, text));
  }
  if (!flags.output.empty()) {
    write_profile(fitted.profile, flags.output);
    say("{} written", flags.output);
  }
  const std::vector<Json> records = report::fit_records(fitted);
  fmt::print("{}", report::for_people(flags.view.format) ? report::fit_text(records)
                                                         : report::render(flags.view, records, {}));
  return 0;
}

}  // namespace

void add_trace_fit(Command& trace) {
  auto flags = std::make_shared<TraceFitFlags>();
  Command command =
      trace.add_subcommand("fit", "Fit a profile to a trace, and report the errors of the fit");
  command.add_option("trace", flags->trace, "HDF5 file, or the name of a shipped trace")
      .required()
      .value_text("TRACE");
  command.add_option("-o,--output", flags->output, "where the profile goes")
      .value_text("PROFILE.json");
  command.add_option("--name", flags->name, "of the profile").value_text("NAME [the file's]");
  command
      .add_option("--parts", flags->parts,
                  "regions end where layers do, and where one of so many equal parts does")
      .value_text("N [64]");
  add_format(command, flags->view);
  command.footer(
      "docs/reference/profiles.md has the model and what each entry is fitted to.\n"
      "Examples:\n"
      "  thinwire trace fit training.h5 -o training.json\n"
      "  thinwire trace fit training.h5 --format json");
  command.callback([flags] { return fit(*flags); });
}

}  // namespace thinwire::cli
