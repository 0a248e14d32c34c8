#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/app/report/charts/trace_chart.hpp"
#include "sim/app/report/tables/trace_report.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/files.hpp"
#include "traces/shipped.hpp"
#include "traces/statistics.hpp"
#include "traces/trace.hpp"

namespace thinwire::cli {

namespace {

struct TraceShowFlags {
  std::string trace;
  std::string svg;
  report::View view;
};

std::string shown(const std::string& path, const TraceShowFlags& flags) {
  const traces::TraceReader reader(path);
  const traces::TraceStatistics statistics = traces::statistics_of(reader);
  if (!flags.svg.empty()) {
    std::string format = report::format_of_name(flags.svg);
    if (format.empty()) format = "svg";
    write_text(flags.svg, report::image_of(report::trace_svg(reader.header(), statistics), format));
  }
  const std::vector<Json> records = report::trace_records(path, reader, statistics);
  if (report::for_people(flags.view.format)) return report::trace_text(records, statistics);
  return render(flags.view, records, {});
}

/// Reads the trace in a child process because HDF5 does not survive every damaged file.
int show_traces(const TraceShowFlags& flags) {
  const std::string path = traces::kTraces.file(flags.trace);
  std::string text;
  const ChildOutcome outcome = in_child_process({.subject = path,
                                                 .prepare = [&] { text = shown(path, flags); },
                                                 .run = [&] { return text; }});
  fmt::print("{}", outcome.text);
  return 0;
}

}  // namespace

void add_trace_show(Command& trace) {
  auto flags = std::make_shared<TraceShowFlags>();
  Command command = trace.add_subcommand(
      "show", "Layers, densities, unions, imbalance and thresholds of a trace");
  command.add_option("trace", flags->trace, "HDF5 file, or the name of a shipped trace")
      .required()
      .value_text("TRACE");
  command
      .add_option("--svg", flags->svg,
                  "draw the unions and the thresholds as well: .svg, .png or .pdf")
      .value_text("FILE");
  add_format(command, flags->view);
  command.footer(
      "selected/k      entries of a rank divided by k, over ranks and iterations\n"
      "unions          share of the components that one or more of P ranks select, beside\n"
      "                1 - (1 - d)^P for ranks that select independently\n"
      "imbalance       largest region over the mean: of a rank's own selection in 64 equal\n"
      "                regions, and of the global top-k in one region per rank; 1 is even\n"
      "kept            share of a rank's selection that it selects again in the next recorded\n"
      "                iteration\n"
      "moved           total variation between the first and the last iteration's selections, by\n"
      "                64 regions: 0 equal, 1 disjoint; beside it the value expected by chance\n"
      "drift           of ln(threshold) from iteration t to t + lag, over ranks and t\n"
      "Examples:\n"
      "  thinwire trace show training.h5\n"
      "  thinwire trace show training.h5 --svg training.svg\n"
      "  thinwire trace show training.h5 --format csv");
  command.callback([flags] { return show_traces(*flags); });
}

}  // namespace thinwire::cli
