#include "sim/app/studies/concurrent.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/quantity.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::cli {

namespace {

struct ConcurrentFlags {
  std::string config;
  std::vector<std::string> jobs;
  Json given = Json::object();
  std::vector<std::string> settings;
  bool verbose = false;
  report::View view;
};

/// A key of a --job and its text: a setting of a point, or one of the two keys that only jobs have.
Json value_of_job(const std::string& key, const std::string& text) {
  if (key == "name") return text;
  if (key != "start_s") return value_from(key, text);
  const auto seconds = parse_quantity(text, "s");
  return seconds ? Json(*seconds) : Json(text);  // jobs_from refuses what is no number
}

/// Refuses what a flag says of all jobs if each of them says it itself.
void check_heeded(const Json& jobs, const std::string& flag, const std::string& key) {
  const bool heeded =
      !jobs.is_array() || jobs.empty() || std::ranges::any_of(jobs, [&key](const Json& job) {
        return !job.is_object() || plan::find_by_path(job, key) == nullptr;
      });
  if (heeded) return;
  throw InputError("{}: every job has a {} of its own; leave it out", flag, key);
}

/// The jobs of the file and of the flags; flags override the file's base.
Json config_from(const ConcurrentFlags& flags) {
  Json config = flags.config.empty() ? Json::object() : read_json(flags.config);
  if (!config.is_object()) {
    throw InputError(flags.config + ": expected an object with 'base' and 'jobs'");
  }
  for (const auto& item : flags.given.items()) {
    if (item.value().is_array()) {
      throw InputError("{}: give one value here, and jobs of their own for others",
                       plan::setting_at(item.key()).flag);
    }
    plan::set_by_path(config, "base." + item.key(), item.value());
  }
  const auto set = settings_from("--set", flags.settings, flags.given, "options.tau=32");
  for (const auto& [key, text] : set) {
    plan::set_by_path(config, "base." + key, value_from(key, text));
  }
  for (const std::string& text : flags.jobs) {
    Json job = Json::object();
    for (const auto& [key, value] :
         settings_from("--job", split(text), Json::object(), "scheme=oktopk")) {
      plan::set_by_path(job, key, value_of_job(key, value));
    }
    config["jobs"].push_back(std::move(job));
  }
  if (flags.config.empty() && !config.contains("jobs")) {
    throw InputError("--job: say which jobs run, each by a --job KEY=VALUE,..., or by --config");
  }
  const Json jobs = config.value("jobs", Json());
  for (const auto& item : flags.given.items()) {
    check_heeded(jobs, plan::setting_at(item.key()).flag, item.key());
  }
  for (const auto& [key, text] : set) {
    check_heeded(jobs, fmt::format("--set {}={}", key, text), key);
  }
  return config;
}

Json record_of(const studies::JobTimes& times) {
  const plan::Point& point = times.job.point;
  return {{"schema", "concurrent/1"},
          {"kind", "job"},
          {"job", times.job.name},
          {"scheme", point.scheme->name},
          {"ranks", point.ranks},
          {"components", point.space.components},
          {"k", point.scheme->dense ? Json() : Json(point.k)},
          {"platform", point.platform},
          {"placement", point.placement},
          {"first_host", times.hosts.front()},
          {"last_host", times.hosts.back()},
          {"start_s", times.job.start.value()},
          {"alone_s", times.alone.value()},
          {"together_s", times.together.value()},
          {"slowdown", times.slowdown()},
          {"iterations", times.counted}};
}

int run(const ConcurrentFlags& flags) {
  const std::vector<studies::Job> jobs =
      studies::jobs_from(config_from(flags), flags.config.empty() ? "concurrent" : flags.config);
  std::vector<plan::Point> points;
  for (const studies::Job& job : jobs) {
    if (job.point.record.links || job.point.record.ranks) {
      throw InputError("/record: jobs record nothing; leave --links and --by-rank out");
    }
    points.push_back(job.point);
  }
  say_if_eager(points);
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const std::vector<studies::JobTimes> times =
      studies::run_together(jobs, flags.verbose, [terminal](const std::string& what) {
        if (terminal) show_on_terminal("simulating " + what);
      });
  if (terminal) show_on_terminal("");
  std::vector<Json> records;
  for (const studies::JobTimes& one : times) records.push_back(record_of(one));
  std::vector<report::Column> columns;
  report::add_columns(columns, {"job", "scheme"});
  report::add_columns(columns, {"ranks", "components", "k"});
  report::add_columns(columns, {"first_host", "last_host"});
  report::add_columns(columns, {"alone_s", "together_s", "slowdown", "iterations"});
  fmt::print("{}", report::render(flags.view, records, columns));
  return 0;
}

}  // namespace

void add_concurrent(Command& app) {
  auto flags = std::make_shared<ConcurrentFlags>();
  Command command = app.add_subcommand(
      "concurrent", "Run several jobs at once on one platform: each one's time alone and together");
  command
      .add_option("--config", flags->config, R"(JSON file: {"base": {...}, "jobs": [{...}, ...]})")
      .value_text("FILE");
  command
      .add_option(
          "--job", flags->jobs,
          "a job: settings of a point, and 'name' and 'start_s' (0.5 or 2ms); repeat it for "
          "each job")
      .value_text("KEY=VALUE,...");
  add_setting_flags(command, flags->given);
  command.add_option("--set", flags->settings, "any other key of all jobs: --set options.tau=32")
      .value_text("KEY=VALUE");
  command.add_flag("--verbose", flags->verbose, "let SimGrid's log through to stderr");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.first({"--job", "--config", "--platform", "--components", "--format"});
  command.footer(
      "Flags set all jobs; a setting in --job is for this job alone. Each job takes the first\n"
      "hosts, in the order of its placement, that no earlier job has. The network is links. Each\n"
      "job runs alone, and then with all others, which repeat their iterations until it has "
      "ended.\n"
      "Its time is the mean of --iterations iterations or more, after one to warm up.\n"
      "Examples:\n"
      "  thinwire concurrent --platform fat_tree -n 1M --job scheme=oktopk,ranks=64 \\\n"
      "      --job scheme=dense_ring,ranks=64,placement=random:1\n"
      "  thinwire concurrent --config jobs.json --routing ecmp --format json");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
