#include <fmt/format.h>

#include <memory>
#include <set>

#include "sim/app/cli/shared.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::cli {

namespace {

struct MergeFlags {
  std::vector<std::string> results;
  std::string output;
};

int run(const MergeFlags& flags) {
  const results::UniqueRows unique = run::merge_rows(flags.results);
  const std::vector<results::Row>& rows = unique.rows;
  if (rows.empty()) throw InputError("{}: holds no results", flags.results.front());
  if (flags.output.empty()) {
    fmt::print("{}", results::lines_of(rows));
  } else {
    write_rows(flags.output, rows);
  }
  say_contradictions(unique);
  std::set<std::string> versions;
  for (const results::Row& row : rows) versions.insert(row.version);
  if (versions.size() > 1) {
    say("the results are of {} versions of thinwire: {}", versions.size(),
        fmt::join(versions, ", "));
  }
  const bool failed = report_troubles(rows);
  say("{} results of {} files{}", rows.size(), flags.results.size(),
      flags.output.empty() ? "" : " in " + flags.output);
  return failed ? kFailed : 0;
}

}  // namespace

void add_merge(Command& app) {
  auto flags = std::make_shared<MergeFlags>();
  Command command = app.add_subcommand("merge", "Merge the results of a sweep's parts");
  command.add_option("results", flags->results, "results of 'thinwire sweep --shard'")
      .required()
      .value_text("RESULTS.jsonl...");
  command.add_option("-o,--output", flags->output, "file for all results; stdout without it")
      .value_text("FILE");
  command.footer(
      "If several files hold a point, its successful result is kept. To check for missing points\n"
      "and run them, run the sweep on the merged file:\n"
      "  thinwire merge part*.jsonl -o big.jsonl\n"
      "  thinwire sweep big.json -o big.jsonl");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
