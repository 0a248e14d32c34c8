#include "sim/app/studies/recommend.hpp"
#include "sim/app/experiment/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/cli/command.hpp"
#include "sim/app/report/tables/recommendation.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::cli {

namespace {

struct RecommendFlags {
  Json given = Json::object();  // settings of a point, by dotted path
  std::string model;
  std::string schemes;
  bool fast = false;
  int most_ranks = 1024;
  report::Format format = report::Format::table;
};

std::string crossover_text(const Json& record, const std::string& winner) {
  const std::string way = record.at("along") == "ranks" ? "P" : "density";
  const std::string towards = record.at("towards").get<std::string>();
  if (record.at("looked_to").is_null()) {
    return fmt::format("{} {}: no point could be simulated\n", towards, way);
  }
  if (record.at("at").is_null()) {
    return fmt::format("{} {}: {} is the fastest in the whole range, to {} = {}\n", towards, way,
                       winner, way, report::number_text(record.at("looked_to"), 4));
  }
  return fmt::format("{} {}: at {} = {} {} is the fastest, speedup {:.3g} over {}\n", towards, way,
                     way, report::number_text(record.at("at"), 4),
                     record.at("scheme").get<std::string>(), record.at("gain").get<double>(),
                     winner);
}

int run(RecommendFlags flags) {
  Json point = {{"workload", {{"model", flags.model}}}};
  for (const auto& item : flags.given.items()) {
    experiment::set_by_path(point, item.key(), item.value());
  }
  studies::RecommendSettings settings{
      .point = point,
      .schemes = flags.schemes.empty() ? studies::default_candidates(point) : split(flags.schemes),
      .crossovers = !flags.fast,
      .most_ranks = flags.most_ranks};
  const bool terminal = isatty(STDERR_FILENO) == 1;
  settings.progress = [terminal](const std::string& what) {
    if (terminal) {
      show_on_terminal(what);
    } else {
      say("simulating {}", what);
    }
  };
  const studies::Recommendation result = studies::recommend(settings);
  if (terminal) show_on_terminal("");
  std::vector<experiment::Row> rows;
  for (const studies::Candidate& candidate : result.ranked) rows.push_back(candidate.row);
  const experiment::Row& best = rows.front();
  if (!best.outcome) {
    static_cast<void>(report_troubles(rows));
    throw SimulationError("no candidate could be simulated");
  }
  std::vector<Json> records = report::candidate_records(result);
  for (const experiment::Row& row : rows) {
    if (!experiment::selects_far_from_k(row)) continue;
    say("{} selects {} components on {} ranks, far from k = {}, and comes last", row.point.scheme,
        row.outcome->selection->total, row.outcome->selection->ranks, row.point.k);
  }
  std::vector<Json> crossovers;
  if (settings.crossovers) crossovers = report::crossover_records(result);
  if (flags.format != report::Format::table) {
    records.insert(records.end(), crossovers.begin(), crossovers.end());
    fmt::print("{}", report::render(flags.format, records, {}));
    return report_troubles(rows) ? kFailed : 0;
  }
  std::vector<report::Column> columns{
      {"scheme", [](const Json& r) { return r.at("scheme").get<std::string>(); }, true}};
  for (const char* key : {"iteration_s", "over_best", "computation_s", "sparsification_s",
                          "communication_s", "samples_per_s"}) {
    columns.push_back({key, [key](const Json& r) { return report::number_text(r.at(key), 4); }});
  }
  columns.push_back(
      {"dominant", [](const Json& r) { return r.at("dominant").get<std::string>(); }, true});
  fmt::print("{}", report::to_table(records, columns));
  if (!crossovers.empty()) {
    fmt::print("\namong {}:\n", fmt::join(result.contenders, ", "));
  }
  for (const Json& crossover : crossovers) {
    fmt::print("{}", crossover_text(crossover, best.point.scheme));
  }
  return report_troubles(rows) ? kFailed : 0;
}

}  // namespace

void add_recommend(Command& app) {
  auto flags = std::make_shared<RecommendFlags>();
  Command command = app.add_subcommand(
      "recommend",
      "Rank schemes by the simulated training iteration, and find where the ranking changes");
  const auto add = [&](const char* path, const char* help = "") {
    add_setting_flag(command, flags->given, experiment::setting_at(path), Values::one, help);
  };
  command.add_option("--model", flags->model, "model to train, see 'thinwire list models'")
      .required()
      .value_text("MODEL");
  add("platform", "a shipped platform or a platform XML; without it alpha and beta");
  for (const char* path : {"ranks", "density", "workload.device", "workload.batch"}) add(path);
  add("network",
      "alphabeta (end to end, no congestion), links (congestion) or smpi (SimGrid's, far slower)");
  for (const char* path : {"machine.alpha_s", "machine.beta_s_per_word", "workload.staging"}) {
    add(path);
  }
  command.add_option("--schemes", flags->schemes, "candidates, SCHEME or SCHEME+SPARSIFIER")
      .value_text("SCHEME,...");
  command.add_flag("--fast", flags->fast, "rank only; do not look for crossovers");
  command
      .add_option("--most-ranks", flags->most_ranks,
                  "largest P to try for crossovers, at least twice --ranks; thousands take minutes")
      .show_default()
      .range(2, 1 << 20);
  add_format(command, flags->format);
  command.footer(
      "dominant is the largest part of an iteration: computation, sparsification, or, within\n"
      "communication, latency (messages times alpha), bandwidth (words times beta) or waiting\n"
      "(for other ranks, sums and copies). Crossovers are searched by doubling and halving P and\n"
      "the density, among the three fastest and the fastest dense scheme.\n"
      "Examples:\n"
      "  thinwire recommend --platform aries_daint --model bert --ranks 256\n"
      "  thinwire recommend --platform nvlink_ib --network links --model bert --device h100 -P 64");
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
