#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/trace_commands.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "traces/shipped.hpp"
#include "traces/trace.hpp"

namespace thinwire::cli {

namespace {

struct TraceCheckFlags {
  std::vector<std::string> traces;
  report::View view;
};

Json read(const std::string& path) {
  const traces::TraceReader reader(path);
  const traces::TraceTotals totals = traces::read_all(reader);
  return {{"ranks", reader.header().ranks},
          {"components", reader.header().components},
          {"iterations", reader.iterations().size()},
          {"entries", totals.entries},
          {"gradients", totals.gradients}};
}

/// Reads the trace in a child process because HDF5 does not survive every damaged file.
Json checked(const std::string& path) {
  std::string found;
  const ChildOutcome outcome = in_child_process({.subject = path,
                                                 .prepare = [&] { found = read(path).dump(); },
                                                 .run = [&] { return found; }});
  return Json::parse(outcome.text);
}

std::string sentence(const Json& record) {
  const std::string path = record.at("trace").get<std::string>();
  if (!record.at("ok").get<bool>()) return record.at("text").get<std::string>();
  std::string text = fmt::format(
      "{}: ok, {} ranks, {} components, {} iterations, {} entries", path,
      record.at("ranks").get<std::int64_t>(), record.at("components").get<std::int64_t>(),
      record.at("iterations").get<std::int64_t>(), record.at("entries").get<std::int64_t>());
  if (record.at("gradients") != 0) {
    text += fmt::format(", {} gradients", record.at("gradients").get<std::int64_t>());
  }
  return text;
}

int check_traces(const TraceCheckFlags& flags) {
  std::vector<Json> records;
  bool bad = false;
  for (const std::string& name : flags.traces) {
    Json record{{"trace", name}, {"ok", true}};
    try {
      record.update(checked(traces::kTraces.file(name)));
    } catch (const InputError& error) {
      bad = true;
      record["ok"] = false;
      record["text"] = error.what();
    }
    records.push_back(std::move(record));
  }
  if (!report::for_people(flags.view.format)) {
    fmt::print("{}", report::render(flags.view, records, {}));
  } else {
    for (const Json& record : records) fmt::print("{}\n", sentence(record));
  }
  return bad ? kBadInput : 0;
}

}  // namespace

void add_trace_check(Command& trace) {
  auto flags = std::make_shared<TraceCheckFlags>();
  Command command = trace.add_subcommand("check", "Read whole traces and report their errors");
  command.add_option("traces", flags->traces, "HDF5 files, or names of shipped traces")
      .required()
      .value_text("TRACE ...");
  add_format(command, flags->view);
  command.footer(
      "The whole trace is read. Checks that the components of each selection increase and lie in\n"
      "range, that values are finite, and that shapes agree with one another and the header.\n"
      "Exit codes: 0 all are right, 2 one or more are not; all are reported.\n"
      "Example: thinwire trace check training.h5");
  command.callback([flags] { return check_traces(*flags); });
}

}  // namespace thinwire::cli
