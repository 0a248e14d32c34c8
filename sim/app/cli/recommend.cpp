#include "sim/app/studies/recommend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/cli/points.hpp"
#include "sim/app/cli/progress.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/cli/sizes.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/report/tables/recommendation.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/library_rules.hpp"
#include "sim/app/studies/recommend/confidence.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/split.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::cli {

namespace {

/// Files for libraries, and the sizes that decide what is in them.
struct LibraryFlags {
  std::string nccl;
  std::string open_mpi;
  SizeFlags sizes;
  int jobs = 1;

  [[nodiscard]] bool any() const { return !nccl.empty() || !open_mpi.empty(); }
};

struct RecommendFlags {
  Json given = Json::object();  // settings of a point, by dotted path
  std::string model;
  std::string schemes;
  std::vector<std::string> settings;  // KEY=VALUE
  std::optional<int> nodes;
  std::optional<int> gpus;  // of a node
  bool fast = false;
  bool all = false;
  std::optional<int> most_ranks;
  studies::DensityOf density_of = studies::DensityOf::rank;
  std::optional<double> state_bytes;
  std::optional<double> most_seconds;
  LibraryFlags library;
  report::View view;
};

constexpr int kMostRanks = 1024;

/// "With 512 ranks", "At a density of 0.08", "With 4 times the latency (alpha)".
std::string where_text(const std::string& along, double value) {
  if (along == "ranks") return fmt::format("With {:.0f} ranks", value);
  if (along == "density") return fmt::format("At a density of {:.4g}", value);
  if (along == "alpha") {
    return value < 1 ? fmt::format("With 1/{:.4g} of the latency (alpha)", 1 / value)
                     : fmt::format("With {:.4g} times the latency (alpha)", value);
  }
  return value > 1
             ? fmt::format("With 1/{:.4g} of the bandwidth (beta times {:.4g})", value, value)
             : fmt::format("With {:.4g} times the bandwidth (beta times {:.4g})", 1 / value, value);
}

/// "With more ranks", "At lower densities".
std::string towards_text(const std::string& along, bool higher) {
  if (along == "ranks") return higher ? "With more ranks" : "With fewer ranks";
  if (along == "density") return higher ? "At higher densities" : "At lower densities";
  if (along == "alpha") return higher ? "With longer latencies" : "With shorter latencies";
  return higher ? "With less bandwidth" : "With more bandwidth";
}

/// "At a density of 0.08 the advice is dense_ovlp, 1.16 times as fast as exdyna."
std::string crossover_text(const Json& record, const std::string& present) {
  const std::string along = record.at("along").get<std::string>();
  const bool higher = record.at("towards") == "higher";
  const std::string ended = record.at("ended").get<std::string>();
  const std::string why = ended.empty() ? "" : fmt::format(" ({})", ended);
  if (record.at("looked_to").is_null()) {
    return fmt::format("{}: no point was simulated{}.\n", towards_text(along, higher), why);
  }
  if (record.at("at").is_null()) {
    std::string last = where_text(along, record.at("looked_to").get<double>());
    last.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(last.front())));
    return fmt::format("{}, {} stays the advice, also {}{}.\n", towards_text(along, higher),
                       present, last, why);
  }
  const auto other = record.at("scheme").get<std::string>();
  const auto gain = record.at("gain").get<double>();
  const std::string begin =
      fmt::format("{} the advice is {}", where_text(along, record.at("at").get<double>()), other);
  if (gain <= 1) {  // what is less than 5% faster than the dense sum is not advised
    return fmt::format(
        "{}, which gives the dense sum: {} is only {:.2g}% faster there, and less "
        "than {:.0f}% is not worth another convergence.\n",
        begin, present, 100 * (1 / gain - 1), 100 * (studies::kWorthwhile - 1));
  }
  constexpr double kMuch = 1.1;
  if (gain < kMuch)
    return fmt::format("{}, {:.2g}% faster than {}.\n", begin, 100 * (gain - 1), present);
  return fmt::format("{}, {:.3g} times as fast as {}.\n", begin, gain, present);
}

double time_of(const studies::Candidate& candidate) {
  return candidate.row.outcome->training->mean.total().value();
}

/// What a paper reports about the convergence of a scheme.
std::string convergence_text(const algorithms::ConvergenceReport& report) {
  std::string text = fmt::format("{}: {}", name_of(report.convergence), report.text);
  if (!report.source.empty()) text += fmt::format(" ({})", report.source);
  return text;
}

/// What trainings of a small model said about a candidate.
std::string measured_text(const studies::Candidate& candidate) {
  if (!candidate.measured) return {};
  const algorithms::MeasuredConvergence& measured = *candidate.measured;
  return fmt::format(
      "; measured on a small model ({}, density {:g}, P = {}): {:+.1f} points of accuracy compared "
      "with dense (95% of {} seeds: {:+.1f} to {:+.1f})",
      measured.model, measured.density, measured.ranks, measured.points_above_dense, measured.seeds,
      measured.low, measured.high);
}

/// Why a candidate that is faster than the advice is not advised.
std::string objection_to(const studies::Candidate& candidate) {
  if (!candidate.fits) {
    return fmt::format("needs {:.3g} GB beyond the training, which do not fit",
                       candidate.memory_bytes / 1e9);
  }
  return "converges " + convergence_text(candidate.convergence) + measured_text(candidate);
}

/// The scheme to take, what is known against it and against faster ones, and what it gains over the
/// best dense scheme.
std::string advice_text(const studies::Recommendation& result) {
  const studies::Candidate* const advice = result.advice();
  std::string text;
  for (const studies::Candidate& candidate : result.ranked) {
    if (!candidate.row.outcome || candidate.is_advisable()) continue;
    if (results::selects_far_from_k(candidate.row)) continue;
    if (advice != nullptr && time_of(candidate) > time_of(*advice)) continue;
    text += fmt::format("not advised: {}, {:.4g} s: {}\n", candidate.row.point.scheme->name,
                        time_of(candidate), objection_to(candidate));
  }
  if (advice == nullptr) return text + "no recommendation\n";
  std::string line = fmt::format("recommended: {}", advice->row.point.scheme->name);
  for (const studies::Candidate& candidate : result.ranked) {
    const bool exact = candidate.convergence.convergence == algorithms::Convergence::exact;
    if (!exact || !candidate.is_advisable()) continue;
    if (&candidate == advice) {
      const studies::Candidate& first = *std::ranges::find_if(
          result.ranked, [](const studies::Candidate& one) { return one.is_advisable(); });
      if (&first != advice) {
        line += fmt::format(", with the dense sum; {} is only {:.2g}% faster",
                            first.row.point.scheme->name,
                            100 * (time_of(*advice) / time_of(first) - 1));
      }
    } else {
      line += fmt::format(", {:.3g} times as fast as {}, the fastest with the dense sum",
                          time_of(candidate) / time_of(*advice), candidate.row.point.scheme->name);
    }
    break;
  }
  return text + line + "\nconvergence: " + convergence_text(advice->convergence) +
         measured_text(*advice) + "\n";
}

/// What the errors of simulations leave open.
std::string closeness_text(const studies::Recommendation& result) {
  const studies::Candidate* const advice = result.advice();
  if (advice == nullptr) return {};
  const std::vector<std::string> near = studies::too_close_to(*advice, result);
  if (near.empty()) return {};
  const studies::UsualError error = studies::usual_error(advice->row);
  return fmt::format(
      "too close to call: {} and {} differ by less than {:.0f}% of the time of their "
      "communication, "
      "the median error of predicted times ({})\n",
      advice->row.point.scheme->name, fmt::join(near, ", "), 100 * error.share, error.of);
}

/// What is slower, and was not simulated to its end.
std::string slower_text(const studies::Recommendation& result) {
  if (result.slower.empty()) return {};
  std::vector<std::string> all;
  for (const studies::Slower& one : result.slower) {
    all.push_back(fmt::format("{} (over {})", one.scheme, report::seconds_text(one.over_s)));
  }
  std::string text = "slower, simulated no further (--all does):\n";
  for (const std::string& line :
       report::wrapped(fmt::format("{}", fmt::join(all, ", ")), report::terminal_width() - 2)) {
    text += "  " + line + "\n";
  }
  return text;
}

std::string assumptions_text(const std::vector<studies::Remark>& all, const char* title) {
  if (all.empty()) return {};
  std::string text = fmt::format("{}:\n", title);
  std::size_t width = 0;
  for (const studies::Remark& one : all) width = std::max(width, one.what.size());
  for (const studies::Remark& one : all) {
    text += fmt::format("  {:{}}  {}\n", one.what, width, one.value);
  }
  return text;
}

Json record_of(const studies::LibraryRule& rule, const std::string& library) {
  const bool last = rule.most_bytes == studies::kAnySize;
  return {{"schema", "recommendation/1"},
          {"kind", "library_rule"},
          {"library", library},
          {"collective", rule.collective},
          {"ranks", rule.ranks},
          {"min_bytes", rule.least_bytes},
          {"max_bytes", last ? Json() : Json(rule.most_bytes)},
          {"algorithm", rule.algorithm},
          {"protocol", rule.protocol.empty() ? Json() : Json(rule.protocol)},
          {"scheme", rule.scheme},
          {"gain", rule.gain}};
}

/// The settings that a library's algorithms read, of one point.
Json point_of_library(const RecommendFlags& flags, std::vector<int>& ranks) {
  Json point = Json::object();
  for (const auto& item : flags.given.items()) {
    if (item.key() == "ranks") {
      const Json all = item.value().is_array() ? item.value() : Json::array({item.value()});
      for (const Json& one : all) ranks.push_back(one.get<int>());
      continue;
    }
    const plan::Setting& setting = plan::setting_at(item.key());
    if (setting.aspect != plan::Aspect::place) {
      throw InputError("{}: the rules of a library do not read it; leave it out",
                       setting.flag.substr(setting.flag.find("--")));
    }
    plan::set_by_path(point, item.key(), item.value());
  }
  if (ranks.empty()) {
    throw InputError("--ranks is missing: give the sizes of the communicators, as in -P 4,8,16");
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return studies::with_network(std::move(point));
}

/// Writes the rules of one library, and adds their records.
bool add_rules(studies::RulesOf library, const RecommendFlags& flags, const std::string& file,
               std::vector<Json>& records) {
  std::vector<int> ranks;
  const Json point = point_of_library(flags, ranks);
  SizeFlags sizes = flags.library.sizes;
  if (!sizes.any()) sizes.sizes = "1K:64M:4";
  const auto components = components_of(sizes).get<std::vector<std::int64_t>>();
  const run::Sweep sweep = studies::sweep_of_rules(library, point, ranks, components);
  const plan::Point& any = sweep.points.front();
  check_output(file, inputs_of(any));
  std::vector<results::Row> rows;
  {
    ProgressDisplay display;
    rows = run::run_sweep(sweep, "results/local/recommend.jsonl", {.jobs = flags.library.jobs},
                          [&](const run::SweepProgress& progress) { display.show(progress); });
  }
  const std::vector<studies::LibraryRule> rules = studies::rules_of(library, rows);
  const std::string origin =
      fmt::format("simulated by Thinwire {} on the network {}{}", version(), any.network->name,
                  any.platform.empty() ? "" : ", platform " + any.platform);
  const bool nccl = library == studies::RulesOf::nccl;
  write_text(file, nccl ? studies::nccl_tuner_text(rules, origin)
                        : studies::open_mpi_rules_text(rules, origin));
  for (const studies::LibraryRule& rule : rules) {
    records.push_back(record_of(rule, nccl ? "NCCL" : "Open MPI"));
  }
  return report_troubles(rows);
}

int write_rules(const RecommendFlags& flags) {
  const auto refuse = [](const char* flag) {
    throw InputError("{}: the rules of a library are about collectives alone; leave it out", flag);
  };
  if (!flags.model.empty()) refuse("--model");
  if (!flags.schemes.empty()) refuse("--schemes");
  if (flags.fast) refuse("--fast");
  if (flags.all) refuse("--all");
  if (flags.nodes) refuse("--nodes");
  if (flags.gpus) refuse("--gpus");
  if (!flags.settings.empty()) refuse("--set");
  if (flags.most_ranks) refuse("--most-ranks");
  if (flags.density_of != studies::DensityOf::rank) refuse("--density-of");
  if (flags.state_bytes) refuse("--state-bytes");
  if (flags.most_seconds) refuse("--most-seconds");
  if (flags.library.nccl == flags.library.open_mpi) {
    throw InputError("--ompi-rules: --nccl-tuner writes that file; give another place");
  }
  std::vector<Json> records;
  bool failed = false;
  if (!flags.library.nccl.empty()) {
    failed = add_rules(studies::RulesOf::nccl, flags, flags.library.nccl, records);
  }
  if (!flags.library.open_mpi.empty()) {
    failed =
        add_rules(studies::RulesOf::open_mpi, flags, flags.library.open_mpi, records) || failed;
  }
  std::vector<report::Column> columns;
  report::add_columns(columns, {"library", "collective"});
  report::add_columns(columns, {"ranks", "min_bytes", "max_bytes"});
  report::add_columns(columns, {"algorithm", "protocol", "scheme"});
  report::add_columns(columns, {"gain"});
  fmt::print("{}", report::render(flags.view, records, columns));
  return failed ? kFailed : 0;
}

/// What is needed to rank trainings.
void check_training(const RecommendFlags& flags) {
  if (flags.model.empty()) {
    throw InputError("--model is missing: model to train, see 'thinwire list models'");
  }
  if (flags.library.sizes.any()) {
    throw InputError(
        "--sizes, -b: only --nccl-tuner and --ompi-rules take sizes; the model has its own");
  }
  if (flags.given.contains("ranks") && flags.given.at("ranks").is_array()) {
    std::vector<std::int64_t> all = flags.given.at("ranks").get<std::vector<std::int64_t>>();
    throw InputError("--ranks: '{}' is not valid; expected one value here, a decimal with a point",
                     excerpt(fmt::format("{}", fmt::join(all, ","))));
  }
}

/// The names without repetitions, in their order.
std::vector<std::string> once_each(const std::vector<std::string>& names) {
  std::vector<std::string> each;
  for (const std::string& name : names) {
    if (std::ranges::find(each, name) == each.end()) {
      each.push_back(name);
    } else {
      say("--schemes: {} is given more than once and runs once", name);
    }
  }
  return each;
}

/// The ranks of --nodes and --gpus, and on a platform their places.
void give_nodes(const RecommendFlags& flags, Json& point) {
  if (!flags.nodes && !flags.gpus) return;
  if (!flags.nodes || !flags.gpus) {
    throw InputError(flags.nodes ? "--nodes: of how many GPUs each? give --gpus too, or --ranks"
                                 : "--gpus: on how many nodes? give --nodes too, or --ranks");
  }
  if (flags.given.contains("ranks")) {
    throw InputError("--nodes, --gpus: --ranks gives the number of ranks; leave one of them out");
  }
  const std::int64_t ranks = std::int64_t{*flags.nodes} * *flags.gpus;
  if (ranks > 1 << 20) {
    throw InputError("--nodes: {} nodes of {} GPUs are {} ranks; {} at most can be simulated",
                     *flags.nodes, *flags.gpus, ranks, 1 << 20);
  }
  point["ranks"] = ranks;
  if (!point.contains("platform")) {
    say("note: --nodes, --gpus: without a platform all ranks are alike; --platform dgx_h100 or one "
        "of 'thinwire topo make nvlink_ib' has nodes of GPUs");
  } else if (!point.contains("placement")) {
    point["placement"] = fmt::format("per_node:{}", *flags.gpus);
  }
}

/// The point that the flags and --set give.
Json recommended_point(const RecommendFlags& flags) {
  Json point = {{"workload", {{"model", flags.model}}}};
  for (const auto& item : flags.given.items()) {
    plan::set_by_path(point, item.key(), item.value());
  }
  give_nodes(flags, point);
  Json of_flags = flags.given;
  of_flags["workload.model"] = flags.model;
  if (flags.nodes) of_flags["ranks"] = point.at("ranks");
  for (const auto& [key, text] :
       settings_from("--set", flags.settings, of_flags, "options.bucket_words=32M")) {
    if (key == "scheme") throw InputError("--set scheme: --schemes names the schemes to compare");
    plan::set_by_path(point, key, value_from(key, text));
  }
  return point;
}

/// Refuses flags that --fast would not read, and crossovers that could not be looked for.
void check_crossovers(const RecommendFlags& flags, const Json& point) {
  if (flags.fast && flags.most_ranks) {
    throw InputError("--most-ranks: it is about crossovers, which --fast leaves out");
  }
  if (flags.fast && flags.most_seconds && !flags.schemes.empty()) {
    throw InputError(
        "--most-seconds: schemes that are named are simulated however long it takes, and --fast "
        "leaves out the crossovers");
  }
  if (const Json ranks = point.value("ranks", Json());
      flags.most_ranks && ranks.is_number() && *flags.most_ranks < 2 * ranks.get<int>()) {
    throw InputError("--most-ranks: {} is less than twice the {} ranks; give {} at least",
                     *flags.most_ranks, ranks.get<int>(), 2 * ranks.get<int>());
  }
}

/// What the formulas tell at once, where simulations take their time.
void say_forecast(const studies::Forecast& forecast, bool crossovers) {
  constexpr double kSoon = 3;
  const double wall_s = forecast.wall_s();
  if (wall_s < kSoon || forecast.candidates.empty()) return;
  say("by formulas alone (alpha {}, beta {:.3g} GB/s end to end; no selection, no overlap):",
      report::seconds_text(forecast.machine.alpha.value()),
      4e-9 / forecast.machine.beta_per_word.value());
  for (const studies::ForecastCandidate& one : forecast.candidates) {
    say("  {:28} about {}", one.scheme, report::seconds_text(one.time_s));
  }
  say("now {} simulations, {} at once: {} at most on idle cores, and less where it is soon known "
      "what is slower{}",
      forecast.candidates.size(), forecast.jobs, duration_text(wall_s),
      crossovers ? "; then crossovers, which --fast leaves out" : "");
}

studies::RecommendSettings recommend_settings(const RecommendFlags& flags) {
  studies::RecommendSettings settings{.point = recommended_point(flags),
                                      .crossovers = !flags.fast,
                                      .most_ranks = flags.most_ranks.value_or(kMostRanks),
                                      .density_of = flags.density_of,
                                      .jobs = flags.library.jobs};
  check_crossovers(flags, settings.point);
  if (!flags.schemes.empty()) settings.schemes = once_each(split(flags.schemes));
  if (flags.state_bytes) settings.state_bytes = *flags.state_bytes;
  if (flags.most_seconds) settings.most_seconds = *flags.most_seconds;
  settings.all = flags.all;
  settings.forecast = [crossovers = settings.crossovers](const studies::Forecast& forecast) {
    say_forecast(forecast, crossovers);
  };
  return settings;
}

std::vector<report::Column> candidate_columns(bool groups) {
  using report::Shown;
  std::vector<report::Column> columns;
  report::add_columns(columns, {"scheme", "iteration_s", "over_best"});
  report::add_columns(columns, {"computation_s", "sparsification_s"}, Shown::if_wide);
  if (groups) report::add_columns(columns, {"tensor_parallel_s"}, Shown::if_wide);
  report::add_columns(columns, {"communication_s"}, Shown::if_room);
  report::add_columns(columns, {"samples_per_s"}, Shown::if_wide);
  report::add_columns(columns, {"dominant"}, Shown::if_room);
  report::add_columns(columns, {"sum_density", "memory_bytes"}, Shown::if_wide);
  columns.push_back({"convergence", [](const Json& r) {
                       std::string reported = r.at("convergence");
                       if (r.at("measured_on").is_null()) return reported;
                       return fmt::format("{}; small model {:+.1f} at {:g}%", reported,
                                          r.at("measured_points").get<double>(),
                                          100 * r.at("measured_density").get<double>());
                     }});
  return columns;
}

void print_recommendation(const studies::Recommendation& result, const report::View& view) {
  const std::vector<Json> candidates = report::candidate_records(result);
  const std::vector<Json> crossovers = report::crossover_records(result);
  if (!report::for_people(view.format)) {
    std::vector<Json> records = report::assumption_records(result);
    records.insert(records.end(), candidates.begin(), candidates.end());
    const std::vector<Json> slower = report::slower_records(result);
    records.insert(records.end(), slower.begin(), slower.end());
    records.insert(records.end(), crossovers.begin(), crossovers.end());
    fmt::print("{}", report::render(view, records, {}));
    return;
  }
  const bool groups = result.ranked.front().row.point.sums_activations();
  fmt::print("{}\n{}\n{}{}{}{}", assumptions_text(result.assumptions, "assumed"),
             report::to_table(candidates, candidate_columns(groups), view), advice_text(result),
             closeness_text(result), slower_text(result),
             assumptions_text(result.left_out, "left out"));
  if (!crossovers.empty()) {
    fmt::print("\nAmong {}:\n", fmt::join(result.contenders, ", "));
  }
  for (const Json& crossover : crossovers) {
    fmt::print("{}", crossover_text(crossover, result.contenders.front()));
  }
  if (const std::string answer = report::answer_text(result); !answer.empty()) {
    fmt::print("\n{}: {}\n",
               result.interrupted ? "So far, and perhaps not of all schemes" : "In one sentence",
               answer);
  }
}

/// A bar on a terminal, otherwise a line now and then.
class RecommendProgress {
 public:
  void show(const run::SweepProgress& progress) {
    if (isatty(STDERR_FILENO) == 1) return bar_.show(progress);
    constexpr std::chrono::seconds kOften{5};
    const auto now = std::chrono::steady_clock::now();
    if (progress.done < progress.total && now - said_ < kOften) return;
    if (progress.done == progress.total && progress.ended == nullptr) return;
    said_ = now;
    say("{}/{} simulated, about {} left", progress.done, progress.total,
        duration_text(progress.left_s));
  }

 private:
  ProgressDisplay bar_;
  std::chrono::steady_clock::time_point said_;
};

int run(const RecommendFlags& flags) {
  if (flags.library.any()) return write_rules(flags);
  check_training(flags);
  studies::RecommendSettings settings = recommend_settings(flags);
  const studies::Recommendation result = [&] {
    RecommendProgress display;
    settings.progress = [&](const run::SweepProgress& progress) { display.show(progress); };
    return studies::recommend(settings);
  }();
  std::vector<results::Row> rows;
  std::vector<plan::Point> points;
  for (const studies::Candidate& candidate : result.ranked) {
    rows.push_back(candidate.row);
    points.push_back(candidate.row.point);
  }
  say_if_eager(points);
  say_of_platforms(points);
  if (rows.empty() || !rows.front().outcome) {
    static_cast<void>(report_troubles(rows));
    if (result.interrupted) throw InterruptedError("interrupted before a simulation ended");
    throw SimulationError("no candidate could be simulated");
  }
  print_recommendation(result, flags.view);
  const bool failed = report_troubles(rows);
  if (result.interrupted) {
    say("interrupted: this is what is known by now; the advice may be another one");
    return kInterrupted;
  }
  return failed ? kFailed : 0;
}

constexpr const char* kRecommendFooter =
    "dominant is the largest part of an iteration: computation, sparsification, tensor_parallel\n"
    "(sums of activations), or, within communication, latency (messages times alpha), bandwidth\n"
    "(words times beta) or waiting (for other ranks, sums and copies). sum_density is the share "
    "of\n"
    "the gradient that an iteration updates, memory_bytes what a scheme needs beyond the "
    "training,\n"
    "and convergence what papers report. Schemes that do not fit into the device's memory, and\n"
    "schemes reported to converge worse than dense training, are ranked but not recommended.\n"
    "A scheme without the dense sum has to be 5% faster than schemes with it. Crossovers, where "
    "the\n"
    "advice changes, are searched by doubling and halving P, the density, alpha and beta, among\n"
    "the three fastest and the fastest dense scheme.\n"
    "Examples:\n"
    "  thinwire recommend --platform aries_daint --model bert --ranks 256\n"
    "  thinwire recommend --platform dgx_h100 --model bert --device h100 --nodes 32 --gpus 8\n"
    "  thinwire recommend --platform nvlink_ib --model bert --device h100 -P 64 --fast\n"
    "  thinwire recommend --model llama_7b --device h100 -P 64 --state-bytes 4 --density-of sum\n"
    "  thinwire recommend --ompi-rules rules.conf -P 4,8,16 -b 1K -e 64M -f 4 --alpha 2us";

void add_point_flags(Command& command, RecommendFlags& flags) {
  const auto add = [&](const char* path, const char* help = "", Values values = Values::one) {
    add_setting_flag(command, flags.given, plan::setting_at(path), values, help);
  };
  command.add_option("--model", flags.model, "model to train, see 'thinwire list models'")
      .value_text("MODEL");
  add("platform",
      "a shipped platform or a platform XML; without it, --alpha and --beta are the network");
  add("ranks", "number of ranks; for a library's rules, a list of numbers", Values::several);
  command
      .add_option("--nodes", flags.nodes, "number of nodes, with --gpus: the ranks are their GPUs")
      .value_text("N")
      .range(1, 1 << 20);
  command.add_option("--gpus", flags.gpus, "GPUs of a node, each of them a rank, with --nodes")
      .value_text("N")
      .range(1, 1 << 20);
  for (const char* path :
       {"parallel", "tensor_scheme", "density", "workload.device", "workload.batch"}) {
    add(path);
  }
  add("network",
      "links (congestion; the default with a platform), alphabeta (end to end, no congestion; the "
      "default without one) or smpi (SimGrid's, far slower)");
  for (const char* path :
       {"machine.alpha_s", "machine.beta_s_per_word", "placement", "workload.staging"}) {
    add(path);
  }
  command
      .add_option("--set", flags.settings,
                  "any other key of a point, and options for the schemes that have them: --set "
                  "options.bucket_words=32M")
      .value_text("KEY=VALUE");
}

void add_rules_flags(Command& command, RecommendFlags& flags) {
  command
      .add_option("--nccl-tuner", flags.library.nccl,
                  "no training: write the fastest of NCCL's algorithms by size and ranks, as its "
                  "example tuner plugin reads it")
      .value_text("FILE");
  command
      .add_option("--ompi-rules", flags.library.open_mpi,
                  "the same for Open MPI, as a file for coll_tuned_dynamic_rules_filename")
      .value_text("FILE");
  add_size_flags(command, flags.library.sizes);
}

}  // namespace

void add_recommend(Command& app) {
  auto flags = std::make_shared<RecommendFlags>();
  Command command = app.add_subcommand(
      "recommend",
      "Rank schemes by the simulated training iteration, and find where the ranking changes");
  add_point_flags(command, *flags);
  command.add_option("--schemes", flags->schemes, "candidates, SCHEME or SCHEME+SPARSIFIER")
      .value_text("SCHEME,...");
  command
      .add_choice("--density-of", flags->density_of,
                  {{"rank", studies::DensityOf::rank}, {"sum", studies::DensityOf::sum}},
                  "rank: k as each scheme defines it; sum: as many components in the sum as top-k "
                  "SGD has, for the same information in each iteration")
      .value_text("WHAT [rank]");
  command
      .add_option("--state-bytes", flags->state_bytes,
                  "bytes of GPU memory per component for weights, gradient and optimizer; 16: "
                  "mixed precision and Adam")
      .value_text("N [16]")
      .range(0.0, 1e6);
  command
      .add_option("--most-seconds", flags->most_seconds,
                  "simulations that are expected to take longer are left out; simulations of named "
                  "--schemes only when looking for crossovers")
      .value_text("S [60]")
      .range(0.0, 1e9);
  command.add_flag("--fast", flags->fast, "rank only; do not look for crossovers");
  command.add_flag(
      "--all", flags->all,
      "simulate every candidate to its end, also one that is known to be neither among the three "
      "fastest nor the fastest with the dense sum; named --schemes always run to their ends");
  command
      .add_option("--most-ranks", flags->most_ranks,
                  "largest P to try for crossovers, at least twice --ranks; thousands take minutes")
      .value_text(fmt::format("N [{}]", kMostRanks))
      .range(2, 1 << 20);
  add_rules_flags(command, *flags);
  add_jobs(command, flags->library.jobs, "simulations");
  add_format(command, flags->view);
  add_columns(command, flags->view);
  command.first({"--model", "--device", "--ranks", "--nodes", "--gpus", "--platform", "--density",
                 "--schemes", "--fast", "--state-bytes"});
  command.footer(kRecommendFooter);
  command.callback([flags] { return run(*flags); });
}

}  // namespace thinwire::cli
