#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/claims_report.hpp"
#include "sim/app/studies/claims/claims.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::cli {

namespace {

struct ClaimsFlags {
  std::vector<std::string> wanted;
  bool list = false;
  bool quick = false;
  bool ranges = false;
  bool parameters = false;
  std::string output;
  report::View view;
};

/// A selection for tests: each paper and each kind, without the larger trainings.
const std::vector<std::string>& quick_claims() {
  static const std::vector<std::string> ids{"oktopk.table1",
                                            "oktopk.small_k",
                                            "oktopk.fillin",
                                            "oktopk.vgg.minutes",
                                            "oktopk.bert.efficiency",
                                            "sparcml.bounds",
                                            "sparcml.dsar.maxspeedup",
                                            "exdyna.density",
                                            "dragonn.encode.512MB",
                                            "dragonn.bins",
                                            "zen.hashing",
                                            "zen.bitmap",
                                            "spardl.fillin"};
  return ids;
}

int run(const ClaimsFlags& flags) {
  if (flags.list) {
    if (flags.quick || flags.ranges || flags.parameters || !flags.output.empty() ||
        flags.view.format != report::Format::table) {
      throw InputError("--list: prints ids and runs no claim; leave the other options out");
    }
    for (const std::string& id : studies::claim_ids(flags.wanted)) fmt::print("{}\n", id);
    return 0;
  }
  if (flags.parameters) {
    if (!flags.wanted.empty() || flags.quick || flags.ranges || !flags.output.empty()) {
      throw InputError(
          "--parameters: it lists all parameters and runs no claim; leave out the other arguments");
    }
    fmt::print("{}", report::calibrations_text(studies::calibrations(), flags.view));
    return 0;
  }
  if (!flags.output.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(flags.output, failed);
    if (failed) throw InputError("{}: {}", flags.output, failed.message());
  }
  if (flags.quick && !flags.wanted.empty()) {
    throw InputError("--quick: is a choice of claims; leave it out, or the ids");
  }
  const std::vector<std::string>& wanted = flags.quick ? quick_claims() : flags.wanted;
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto progress = [&](const std::string& paper) {
    if (terminal) show_on_terminal(paper);
  };
  const std::vector<studies::Finding> findings =
      studies::check_claims_at_once(wanted, progress, flags.ranges);
  if (terminal) show_on_terminal("");
  std::vector<Json> records = report::claim_records(findings);
  std::ranges::move(report::claim_counts(findings), std::back_inserter(records));
  if (!flags.output.empty()) {
    const std::filesystem::path folder(flags.output);
    write_text(folder / "claims.txt", report::claims_text(findings));
    write_text(folder / "claims.jsonl", report::to_json_lines(records));
  }
  if (report::for_people(flags.view.format)) {
    fmt::print("{}", report::claims_text(findings, flags.view));
  } else {
    fmt::print("{}", report::render(flags.view, records, {}));
  }
  return 0;
}

}  // namespace

void add_claims(Command& app) {
  auto flags = std::make_shared<ClaimsFlags>();
  Command command = app.add_subcommand(
      "claims", "Simulate the papers' experiments, and compare with the reported figures");
  command
      .add_option(
          "id", flags->wanted,
          "claims whose ids begin with one of these (oktopk.bert, dragonn ...); default all")
      .value_text("ID ...");
  command.add_flag("--list", flags->list, "print the ids, or the ids that begin with ID, and exit");
  command.add_flag("--quick", flags->quick, "some of each paper, in less than a minute");
  command.add_flag("--ranges", flags->ranges,
                   "also at both ends of the range of each assumed constant that matters");
  command.add_flag("--parameters", flags->parameters,
                   "print the calibrated parameters, each with a physical check, and exit");
  command.add_option("-o,--output", flags->output, "write claims.txt and claims.jsonl there too")
      .value_text("FOLDER");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.footer(
      "A number holds if it is within 25% of the paper's, an order if the statement is true. A\n"
      "claim that a parameter was calibrated by says so, as it holds by construction. A predicted\n"
      "number is informative if its null model, the answer without a simulator, misses. "
      "docs/explanation/claims.md\n"
      "explains what misses.\n"
      "Examples:\n"
      "  thinwire claims oktopk.bert\n"
      "  thinwire claims -o results/claims");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
