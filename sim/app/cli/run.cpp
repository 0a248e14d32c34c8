#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "algorithms/registry.hpp"
#include "sim/app/cli/command.hpp"
#include "sim/app/cli/timeline_flags.hpp"
#include "sim/app/experiment/simulate.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::cli {

namespace {

struct RunFlags {
  std::string config;
  Json given = Json::object();  // by dotted path, flags over the config
  std::vector<std::string> settings;
  bool statistical = false;
  report::Format format = report::Format::table;
  bool phases = false;
  TimelineFlags timeline;
  bool verbose = false;
};

/// A flag that sets one value of the point.
template <class T>
void add_value(CLI::App& command, RunFlags& flags, const std::string& flag, const std::string& path,
               const std::string& help) {
  command.add_option_function<T>(
      flag, [&flags, path](const T& value) { flags.given[path] = value; }, help);
}

/// "--set input.overlap=0.5": the value is JSON, or else text.
void apply_setting(Json& point, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(
        fmt::format("--set {}: wanted is KEY=VALUE, as in input.overlap=0.5", setting));
  }
  const std::string text = setting.substr(equals + 1);
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) value = text;
  experiment::set_by_path(point, setting.substr(0, equals), value);
}

/// A table of the records' own keys; `names` are texts, the rest are numbers.
std::string plain_table(const std::vector<Json>& records, const std::vector<std::string>& names,
                        const std::vector<std::string>& numbers) {
  std::vector<report::Column> columns;
  for (const std::string& key : names) {
    columns.push_back({key, [key](const Json& r) { return r.at(key).get<std::string>(); }, true});
  }
  for (const std::string& key : numbers) {
    columns.push_back({key, [key](const Json& r) { return report::number_text(r.at(key)); }});
  }
  return to_table(records, columns);
}

std::string phases_text(const Json& result) {
  return plain_table(result.at("phases"), {"name"},
                     {"time_s_max", "words_received_max", "messages_received_max"});
}

std::string ranks_text(const Json& result) {
  return plain_table(
      result.at("by_rank"), {"phase"},
      {"rank", "time_s", "words_sent", "words_received", "messages_sent", "messages_received"});
}

std::string links_text(const Json& result, std::size_t most) {
  const Json& links = result.at("links");
  if (links.is_null()) return "no link carried anything\n";
  const std::size_t shown = std::min(most, links.size());
  const std::vector<Json> hottest(links.begin(),
                                  links.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text =
      plain_table(hottest, {"name"},
                  {"bandwidth_bytes_per_s", "bytes", "utilisation_mean", "utilisation_peak"});
  if (shown < links.size()) {
    text += fmt::format("({} more links carried something; --format jsonl holds all)\n",
                        links.size() - shown);
  }
  return text;
}

/// What the ranks selected, how far that is from k, and what work it was.
std::string selection_text(const experiment::Row& row) {
  const experiment::SelectionSummary& selection = *row.outcome->selection;
  const algorithms::SelectionWork& work = selection.work;
  const bool together = algorithms::find_scheme(row.point.scheme).selects_together;
  return fmt::format(
      "selected by {} of {} ranks: {} a rank, {} in all, {:+.2f}% from k = {}{}; components that a "
      "rank scanned {}, compared {}, sorted {}, hashed {}, sampled {}, "
      "prefix-summed {}",
      selection.ranks, row.point.ranks, report::interval_text(selection.least, selection.most),
      selection.total, 100 * selection.deviation(row.point.k, together), row.point.k,
      together ? " in all" : "", work.scanned, work.compared, work.sorted, work.hashed,
      work.sampled, work.prefix_summed);
}

int run(const RunFlags& flags) {
  Json point = flags.config.empty() ? Json::object() : experiment::read_json(flags.config);
  for (const auto& item : flags.given.items()) {
    if (item.key() == "k" && point.is_object()) point.erase("density");
    if (item.key() == "density" && point.is_object()) point.erase("k");
    experiment::set_by_path(point, item.key(), item.value());
  }
  if (flags.statistical) apply_setting(point, "input.statistical=true");
  for (const std::string& setting : flags.settings) apply_setting(point, setting);
  const std::string origin = flags.config.empty() ? "run" : flags.config;
  const experiment::Point settled = experiment::point_from(point, origin);
  prepare_for_packets({settled}, flags.config);
  const std::vector<experiment::Row> rows{
      flags.timeline.file.empty() ? experiment::simulate_point("run", settled, flags.verbose)
                                  : row_with_timeline(flags.timeline, settled, flags.verbose)};
  if (flags.format == report::Format::jsonl) {
    fmt::print("{}\n", to_json(rows.front()).dump());
  } else {
    fmt::print("{}", comparison_text(rows, kExactTolerance, flags.format, Detail::brief));
  }
  if (rows.front().outcome) {
    // Beside a table these belong to the output; beside data they would spoil it.
    std::FILE* const out = flags.format == report::Format::table ? stdout : stderr;
    const Json result = to_json(rows.front()).at("result");
    const experiment::Record& record = rows.front().point.record;
    constexpr std::size_t kHottest = 10;
    if (flags.phases) {
      fmt::print(out, "\n{}", phases_text(result));
      if (rows.front().outcome->selection) {
        fmt::print(out, "\n{}\n", selection_text(rows.front()));
      }
    }
    if (flags.format == report::Format::table && record.ranks)
      fmt::print("\n{}", ranks_text(result));
    if (flags.format == report::Format::table && record.links) {
      fmt::print("\n{}", links_text(result, kHottest));
    }
  }
  return report_troubles(rows) ? kFailed : 0;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App& command =
      *app.add_subcommand("run", "Simulate one point and compare it with its formula");
  command.add_option("--config", flags->config, "JSON file with the point; flags go over it")
      ->option_text("FILE");
  add_value<std::string>(command, *flags, "--scheme", "scheme",
                         "scheme, or SCHEME+SPARSIFIER, see 'thinwire list' [oktopk]");
  add_value<std::string>(command, *flags, "--network", "network",
                         "alphabeta, links, smpi or counting [alphabeta]");
  add_value<std::string>(command, *flags, "--platform", "platform",
                         "a shipped platform or a platform XML, see 'thinwire list platforms' "
                         "[aries_daint for links and smpi, none for alphabeta]");
  add_value<std::string>(command, *flags, "--placement", "placement",
                         "of ranks on hosts: block, round_robin, random:SEED or a file [block]");
  add_value<double>(command, *flags, "--time-resolution", "time_resolution_s",
                    "smpi: seconds within which events happen together, 0 for exact; 1e-6 is "
                    "faster [0]");
  add_value<int>(command, *flags, "--flows-per-port", "flows_per_port",
                 "smpi: messages that a port serves at once, 0 for all; 1 is faster [0]");
  add_value<std::string>(command, *flags, "--routing", "links.routing",
                         "links: minimal, valiant, ugal or ecmp [minimal]");
  add_value<std::int64_t>(command, *flags, "--eager", "links.eager_bytes",
                          "links: messages up to so many bytes do not wait for their receiver [0]");
  command.add_flag_callback(
      "--fair-ports", [&given = flags->given] { given["links.fair_ports"] = true; },
      "links: ports are shared fairly even where no other link is");
  add_value<double>(command, *flags, "--background-share", "links.background_share",
                    "links: others use this share of every link between the ports [0]");
  add_value<double>(
      command, *flags, "--background-flows", "links.background_flows",
      "links: hosts without a rank send to each other, this share of their ports [0]");
  command.add_flag_callback(
      "--packet", [&given = flags->given] { given["packets"] = true; },
      "smpi: ns-3's packets instead of flows; small P, flat platforms");
  command.add_flag_callback(
      "--links", [&given = flags->given] { given["record.links"] = true; },
      "links, smpi: record what crosses each link, and print the ten hottest");
  command.add_flag_callback(
      "--by-rank", [&given = flags->given] { given["record.ranks"] = true; },
      "record what each phase cost every rank, and print it");
  add_value<std::int64_t>(command, *flags, "-P,--ranks", "ranks",
                          "ranks P, any number from 1 [16]");
  add_value<std::int64_t>(command, *flags, "-n,--components", "components",
                          "gradient components n [1000000]");
  add_value<double>(command, *flags, "-d,--density", "density",
                    "share k/n that each rank selects [0.01]");
  add_value<std::int64_t>(command, *flags, "-k", "k",
                          "components that each rank selects, instead of --density");
  add_value<std::int64_t>(command, *flags, "--iterations", "iterations",
                          "iterations to run; the last one is reported [2; with --model 0: each "
                          "kind of iteration, weighted]");
  add_value<std::uint64_t>(command, *flags, "--seed", "seed", "seed of the synthetic input [1]");
  add_value<double>(command, *flags, "--alpha", "machine.alpha_s", "seconds a message [2e-6]");
  add_value<double>(command, *flags, "--beta", "machine.beta_s_per_word",
                    "seconds a word of 4 bytes [4e-10]");
  add_value<double>(command, *flags, "--gamma", "machine.gamma_s_per_word",
                    "seconds a reduced word [0]");
  add_value<std::string>(command, *flags, "--trace", "input.trace",
                         "a trace of a real training, instead of synthetic gradients; ranks, n and "
                         "k are its own");
  add_value<std::string>(
      command, *flags, "--profile", "input.profile",
      "gradients as a profile describes them: vgg16, lstm, bert or a file; n and "
      "density are its own by default");
  command.add_flag_callback(
      "--statistical", [flags] { flags->settings.emplace_back("input.statistical=true"); },
      "of a profile: counts instead of entries, for thousands of ranks");
  add_value<std::string>(command, *flags, "--model", "workload.model",
                         "a whole iteration of its training: a shipped model, see 'thinwire list "
                         "models', or a file; brings n, density and profile");
  add_value<std::string>(command, *flags, "--device", "workload.device",
                         "with --model: p100, v100, h100 or a file [the model's first]");
  add_value<std::int64_t>(command, *flags, "--batch", "workload.batch",
                          "with --model: samples a rank [the model's own]");
  command.add_flag_callback(
      "--staging", [flags] { flags->settings.emplace_back("workload.staging=true"); },
      "with --model: messages are sent from the host's memory, not the GPU's");
  add_value<double>(command, *flags, "--overlap", "input.overlap",
                    "share of the selection common to all ranks [0.2]");
  add_value<double>(command, *flags, "--skew", "input.skew",
                    "crowding of the selection; 0 is even [0]");
  command
      .add_option("--set", flags->settings,
                  "any other key of a point: --set options.tau=32 --set granule=1")
      ->option_text("KEY=VALUE");
  command.add_flag("--phases", flags->phases, "print what each phase of the scheme cost");
  add_timeline_flags(command, flags->timeline);
  command.add_flag("--verbose", flags->verbose, "let SimGrid's log through to stderr");
  add_format(command, flags->format);
  command.footer(
      "jsonl prints the row of a results file, which 'thinwire compare' reads.\n"
      "Examples:\n"
      "  thinwire run --scheme oktopk -P 256 -n 133547324 -d 0.01 --phases\n"
      "  thinwire run --scheme oktopk -P 1024 --profile bert --statistical\n"
      "  thinwire run --scheme oktopk -P 256 --model bert --device p100 --staging\n"
      "  thinwire run --scheme oktopk -P 256 --network links --platform fat_tree --links\n"
      "  thinwire run --scheme oktopk -P 64 --timeline oktopk.json");
  command.callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace thinwire::cli
