#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/cli/command.hpp"
#include "sim/app/cli/timeline_flags.hpp"
#include "sim/app/experiment/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/quantity.hpp"

namespace thinwire::cli {

namespace {

struct RunFlags {
  std::string config;
  Json given = Json::object();        // by dotted path, over the config
  std::vector<std::string> settings;  // KEY=VALUE, over both
  report::Format format = report::Format::table;
  bool phases = false;
  std::optional<std::int64_t> memory_mebibytes;
  TimelineFlags timeline;
  bool verbose = false;
};

/// The value of "--set KEY=VALUE": JSON, or else a number as the setting's flag takes it, or text.
Json value_from(const std::string& key, const std::string& text) {
  try {
    Json value = parse_json(text, "--set " + key);
    if (!value.is_number_float()) return value;  // 1e6 may be meant as a whole number
  } catch (const Json::parse_error&) {           // no JSON: 2us, fat_tree
  }
  const experiment::Settings& settings = experiment::point_settings();
  const auto setting = std::ranges::find(settings, key, &experiment::Setting::path);
  if (setting != settings.end()) return experiment::value_of(text, *setting);
  if (const auto whole = parse_whole(text)) return *whole;  // options of schemes have no unit
  if (const auto number = parse_quantity(text)) return *number;
  return text;
}

void apply_setting(Json& point, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("--set {}: expected KEY=VALUE, as in input.overlap=0.5", setting));
  }
  const std::string key = setting.substr(0, equals);
  experiment::set_by_path(point, key, value_from(key, setting.substr(equals + 1)));
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

/// The points that the flags describe: one for each combination of the values of their lists, and
/// each once.
std::vector<experiment::Point> points_of(const RunFlags& flags) {
  if (flags.given.contains("k") && flags.given.contains("density")) {
    throw InputError("-k: give -k or --density, not both");
  }
  std::vector<Json> points{flags.config.empty() ? Json::object() : read_json(flags.config)};
  for (const auto& item : flags.given.items()) {
    const Json values = item.value().is_array() ? item.value() : Json::array({item.value()});
    std::vector<Json> more;
    for (const Json& value : values) {
      for (Json point : points) {
        if (item.key() == "k" && point.is_object()) point.erase("density");
        if (item.key() == "density" && point.is_object()) point.erase("k");
        experiment::set_by_path(point, item.key(), value);
        more.push_back(std::move(point));
      }
    }
    points = std::move(more);
  }
  std::vector<experiment::Point> settled;
  std::set<std::string> known;
  for (Json& point : points) {
    for (const std::string& setting : flags.settings) apply_setting(point, setting);
    experiment::Point one =
        experiment::point_from(point, flags.config.empty() ? "run" : flags.config);
    if (known.insert(what_is_read(one)).second) settled.push_back(std::move(one));
  }
  say_repeated(points.size() - settled.size());
  return settled;
}

/// What the flags ask for beyond the table. Beside a table it belongs to the output; beside data it
/// would spoil it.
void print_details(const RunFlags& flags, const experiment::Row& row) {
  constexpr std::size_t kHottest = 10;
  const bool table = flags.format == report::Format::table;
  const Json result = to_json(row).at("result");
  if (flags.phases) {
    std::string text = '\n' + phases_text(result);
    if (row.outcome->selection) text += '\n' + selection_text(row) + '\n';
    static_cast<void>(std::fputs(text.c_str(), table ? stdout : stderr));
  }
  if (table && row.point.record.ranks) fmt::print("\n{}", ranks_text(result));
  if (table && row.point.record.links) fmt::print("\n{}", links_text(result, kHottest));
}

int run(const RunFlags& flags) {
  const std::vector<experiment::Point> points = points_of(flags);
  prepare_for_packets(points, flags.config);
  if (points.size() > 1 && !flags.timeline.file.empty()) {
    throw InputError("--timeline: one run has one timeline; give each flag one value");
  }
  ChildLimits limits;
  if (flags.memory_mebibytes) limits.memory_bytes = *flags.memory_mebibytes << 20;
  std::vector<experiment::Row> rows;
  for (const experiment::Point& point : points) {
    rows.push_back(flags.timeline.file.empty()
                       ? experiment::simulate_point("run", point, flags.verbose, nullptr, limits)
                       : row_with_timeline(flags.timeline, point, flags.verbose, limits));
    if (flags.format == report::Format::jsonl) fmt::print("{}\n", to_json(rows.back()).dump());
  }
  if (flags.format != report::Format::jsonl) {
    fmt::print("{}", comparison_text(rows, kExactTolerance, flags.format, Detail::brief));
  }
  const bool details = flags.phases || points.front().record.ranks || points.front().record.links;
  for (const experiment::Row& row : rows) {
    if (!row.outcome || !details) continue;
    if (rows.size() > 1 && flags.format == report::Format::table) {
      fmt::print("\n{}:\n", name_of(row.point));
    }
    print_details(flags, row);
  }
  return report_troubles(rows) ? kFailed : 0;
}

}  // namespace

void add_run(Command& app) {
  auto flags = std::make_shared<RunFlags>();
  Command command =
      app.add_subcommand("run", "Simulate a point, or several, and compare each with its formula");
  command.add_option("--config", flags->config, "JSON file with the point; flags go over it")
      .value_text("FILE");
  add_setting_flags(command, flags->given);
  command
      .add_option("--set", flags->settings,
                  "any other key of a point: --set options.tau=32 --set granule=1")
      .value_text("KEY=VALUE");
  command.add_flag("--phases", flags->phases, "print what each phase of the scheme cost");
  add_timeline_flags(command, flags->timeline);
  add_memory_limit(command, flags->memory_mebibytes);
  command.add_flag("--verbose", flags->verbose, "let SimGrid's log through to stderr");
  add_format(command, flags->format);
  command.footer(
      "Numbers may be 25.5M, 1e6, 1% or 2us, and lists: -P 8,16,32 --scheme topka,oktopk runs\n"
      "every combination. jsonl prints rows of a results file, which 'thinwire compare' reads.\n"
      "Examples:\n"
      "  thinwire run --scheme oktopk -P 256 -n 133547324 -d 0.01 --phases\n"
      "  thinwire run --scheme oktopk -P 1024 --profile bert --statistical\n"
      "  thinwire run --scheme oktopk -P 256 --model bert --device p100 --staging\n"
      "  thinwire run --scheme oktopk -P 256 --network links --platform fat_tree --links\n"
      "  thinwire run --scheme oktopk -P 64 --timeline oktopk.json");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
