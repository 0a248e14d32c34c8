#include "sim/app/experiment/row.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "sim/app/experiment/networks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/version.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::experiment {

namespace {

constexpr std::array<std::pair<Status, const char*>, 3> kStatusNames{
    {{Status::ok, "ok"}, {Status::skipped, "skipped"}, {Status::failed, "failed"}}};

std::string name_of(Status status) {
  for (const auto& [value, name] : kStatusNames) {
    if (value == status) return name;
  }
  return {};
}

Status status_from(const std::string& text) {
  for (const auto& [value, name] : kStatusNames) {
    if (text == name) return value;
  }
  throw InputError(fmt::format("unknown status '{}'", text));
}

Json to_json(const SelectionSummary& selection) {
  return {
      {"selected_min", selection.least},       {"selected_max", selection.most},
      {"selected_total", selection.total},     {"ranks", selection.ranks},
      {"sent_min", selection.sent_least},      {"sent_max", selection.sent_most},
      {"scanned_max", selection.work.scanned}, {"compared_max", selection.work.compared},
      {"sorted_max", selection.work.sorted},   {"hashed_max", selection.work.hashed},
      {"sampled_max", selection.work.sampled}, {"prefix_summed_max", selection.work.prefix_summed}};
}

SelectionSummary selection_from(const Json& json) {
  const auto count = [&](const char* key) { return json.at(key).get<std::int64_t>(); };
  return {.least = count("selected_min"),
          .most = count("selected_max"),
          .total = count("selected_total"),
          .sent_least = json.value("sent_min", count("selected_min")),  // absent in older rows
          .sent_most = json.value("sent_max", count("selected_max")),
          .ranks = json.at("ranks").get<int>(),
          .work = {.scanned = count("scanned_max"),
                   .compared = count("compared_max"),
                   .sorted = count("sorted_max"),
                   .hashed = count("hashed_max"),
                   .sampled = json.value("sampled_max", std::int64_t{0}),
                   .prefix_summed = json.value("prefix_summed_max", std::int64_t{0})}};
}

Json to_json(const workloads::IterationParts& parts) {
  return {{"time_s", parts.total().value()},
          {"computation_s", parts.computation.value()},
          {"sparsification_s", parts.sparsification.value()},
          {"communication_s", parts.communication.value()}};
}

workloads::IterationParts parts_from(const Json& json) {
  return {.computation = Seconds(json.at("computation_s").get<double>()),
          .sparsification = Seconds(json.at("sparsification_s").get<double>()),
          .communication = Seconds(json.at("communication_s").get<double>())};
}

Json to_json(const TrainingOutcome& training) {
  Json json = to_json(training.mean);
  json["samples_per_s"] = training.samples_per_s;
  json["kinds"] = Json::array();
  for (const IterationKind& kind : training.kinds) {
    Json one = {{"iteration", kind.which.iteration}, {"weight", kind.which.weight}};
    one.update(to_json(kind.parts));
    json["kinds"].push_back(one);
  }
  return json;
}

TrainingOutcome training_from(const Json& json) {
  TrainingOutcome training{.mean = parts_from(json),
                           .samples_per_s = json.at("samples_per_s").get<double>(),
                           .kinds = {}};
  for (const Json& kind : json.at("kinds")) {
    training.kinds.push_back(
        {{kind.at("iteration").get<int>(), kind.at("weight").get<double>()}, parts_from(kind)});
  }
  return training;
}

Json to_json(const Outcome& outcome, bool has_clock) {
  const auto seconds = [&](Seconds time) { return has_clock ? Json(time.value()) : Json(); };
  Json phases = Json::array();
  for (const PhaseCost& phase : outcome.phases) {
    phases.push_back({{"name", phase.name},
                      {"time_s_max", seconds(phase.time)},
                      {"words_received_max", phase.words_received.value()},
                      {"messages_received_max", phase.messages_received}});
  }
  Json times = Json::array();
  for (const Seconds time : outcome.iteration_times) times.push_back(seconds(time));
  Json links = Json::array();
  for (const LinkReport& link : outcome.links) {
    links.push_back({{"name", link.name},
                     {"bandwidth_bytes_per_s", link.bandwidth},
                     {"bytes", link.carried.value()},
                     {"utilisation_mean", link.mean_utilisation},
                     {"utilisation_peak", link.peak_utilisation}});
  }
  Json by_rank = Json::array();
  for (const RankPhase& one : outcome.by_rank) {
    by_rank.push_back({{"rank", one.rank},
                       {"phase", one.phase},
                       {"time_s", seconds(one.traffic.time)},
                       {"words_sent", one.traffic.words_sent.value()},
                       {"words_received", one.traffic.words_received.value()},
                       {"messages_sent", one.traffic.messages_sent},
                       {"messages_received", one.traffic.messages_received}});
  }
  const auto congestion = outcome.congestion_factor();
  return {
      {"iteration", outcome.iteration},
      {"time_s", seconds(outcome.time())},
      {"iteration_times_s", times},
      {"steps", has_clock ? Json() : Json(outcome.steps)},
      {"messages_sent_max", outcome.messages_sent.max},
      {"messages_sent_mean", outcome.messages_sent.mean},
      {"messages_received_max", outcome.messages_received.max},
      {"messages_received_mean", outcome.messages_received.mean},
      {"words_sent_max", outcome.words_sent.max},
      {"words_sent_mean", outcome.words_sent.mean},
      {"words_received_max", outcome.words_received.max},
      {"words_received_mean", outcome.words_received.mean},
      {"result_components", outcome.result_components},
      {"ranks_agree", outcome.ranks_agree},
      {"selection", outcome.selection ? to_json(*outcome.selection) : Json()},
      {"alpha_s", outcome.machine.alpha.value()},
      {"beta_s_per_word", outcome.machine.beta_per_word.value()},
      {"alphabeta_time_s", outcome.alphabeta_time ? Json(outcome.alphabeta_time->value()) : Json()},
      {"congestion_factor", congestion ? Json(*congestion) : Json()},
      {"training", outcome.training ? to_json(*outcome.training) : Json()},
      {"phases", phases},
      {"links", outcome.links.empty() ? Json() : links},
      {"by_rank", outcome.by_rank.empty() ? Json() : by_rank}};
}

Seconds seconds_from(const Json& json) {
  return json.is_null() ? Seconds(0) : Seconds(json.get<double>());
}

Spread spread_from(const Json& json, const std::string& name) {
  return {.max = json.at(name + "_max").get<std::int64_t>(),
          .mean = json.at(name + "_mean").get<double>()};
}

LinkReport link_from(const Json& json) {
  return {.name = json.at("name").get<std::string>(),
          .bandwidth = json.at("bandwidth_bytes_per_s").get<double>(),
          .carried = Bytes(json.at("bytes").get<std::int64_t>()),
          .mean_utilisation = json.at("utilisation_mean").get<double>(),
          .peak_utilisation = json.at("utilisation_peak").get<double>()};
}

RankPhase rank_phase_from(const Json& json) {
  const auto count = [&](const char* key) { return json.at(key).get<std::int64_t>(); };
  return {.rank = json.at("rank").get<int>(),
          .phase = json.at("phase").get<std::string>(),
          .traffic = {.messages_sent = count("messages_sent"),
                      .messages_received = count("messages_received"),
                      .words_sent = Words(count("words_sent")),
                      .words_received = Words(count("words_received")),
                      .time = seconds_from(json.at("time_s"))}};
}

Outcome outcome_from(const Json& json, const Machine& given) {
  Outcome outcome;
  outcome.machine = given;
  outcome.machine.alpha = Seconds(json.at("alpha_s").get<double>());
  outcome.machine.beta_per_word = Seconds(json.at("beta_s_per_word").get<double>());
  if (!json.at("alphabeta_time_s").is_null()) {
    outcome.alphabeta_time = seconds_from(json.at("alphabeta_time_s"));
  }
  for (const Json& link : json.at("links")) outcome.links.push_back(link_from(link));
  for (const Json& one : json.at("by_rank")) outcome.by_rank.push_back(rank_phase_from(one));
  outcome.iteration = json.at("iteration").get<int>();
  for (const Json& time : json.at("iteration_times_s")) {
    outcome.iteration_times.push_back(seconds_from(time));
  }
  if (outcome.iteration_times.empty()) throw InputError("/result/iteration_times_s is empty");
  outcome.steps = json.at("steps").is_null() ? 0 : json.at("steps").get<std::int64_t>();
  outcome.messages_sent = spread_from(json, "messages_sent");
  outcome.messages_received = spread_from(json, "messages_received");
  outcome.words_sent = spread_from(json, "words_sent");
  outcome.words_received = spread_from(json, "words_received");
  outcome.result_components = json.at("result_components").get<std::int64_t>();
  outcome.ranks_agree = json.at("ranks_agree").get<bool>();
  if (json.contains("selection") && !json.at("selection").is_null()) {  // absent in older rows
    outcome.selection = selection_from(json.at("selection"));
  }
  if (json.contains("training") && !json.at("training").is_null()) {  // absent in older rows
    outcome.training = training_from(json.at("training"));
  }
  for (const Json& phase : json.at("phases")) {
    outcome.phases.push_back(
        {.name = phase.at("name").get<std::string>(),
         .time = seconds_from(phase.at("time_s_max")),
         .words_received = Words(phase.at("words_received_max").get<std::int64_t>()),
         .messages_received = phase.at("messages_received_max").get<std::int64_t>()});
  }
  return outcome;
}

constexpr const char* kPacketsHint =
    "(ns-3 takes one zone of hosts with one link each to their switch, as gige_star has)";

/// What a complaint about the network is about.
std::string subject_of(const Point& point) {
  if (point.platform.empty()) return point.network;
  std::string file = topologies::platform_file(point.platform);
  if (!point.packets) return file;
  return fmt::format("{}, with packets {}", file, kPacketsHint);
}

/// Runs a point that is ready, with its timeline where there is to be one.
Json result_of(PointRun& ready, bool has_clock, const TimelineWish* timeline) {
  if (timeline == nullptr) return to_json(ready.run(), has_clock);
  std::exception_ptr failure;
  Json result;
  try {
    result = to_json(ready.run(timeline->settings), has_clock);
  } catch (...) {
    failure = std::current_exception();
  }
  if (ready.timeline() != nullptr) {
    const std::string told = timeline->write(*ready.timeline());
    if (!failure) result["timeline"] = told;
  }
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace

Row failed_row(const std::string& sweep, const Point& point, const std::string& reason) {
  return {.sweep = sweep,
          .key = key_of(point),
          .version = version(),
          .point = point,
          .status = Status::failed,
          .reason = reason,
          .outcome = {}};
}

RowRun::RowRun(std::string sweep, Point point, ChildLimits limits, bool verbose,
               TimelineWish* timeline, AlphaBetaTime alphabeta)
    : row_(failed_row(sweep, point, {})),
      timeline_(timeline),
      begin_(std::chrono::steady_clock::now()) {
  if (const auto restriction = restriction_of(point)) {
    row_.status = Status::skipped;
    row_.reason = *restriction;
    return;
  }
  const auto ready = std::make_shared<std::optional<PointRun>>();
  const bool has_clock = find_network(point.network).has_clock;
  ChildWork work;
  work.subject = subject_of(point);
  work.prepare = [ready, point, verbose, alphabeta] {
    ready->emplace(point, verbose).alphabeta = alphabeta;
  };
  work.run = [ready, has_clock, timeline] {
    return result_of(**ready, has_clock, timeline).dump();
  };
  child_ = std::make_unique<ChildProcess>(std::move(work), limits, verbose);
}

Row RowRun::finish() const {
  Row row = row_;
  if (!child_) return row;
  row.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  try {
    const ChildOutcome child = child_->outcome();
    const Json result = Json::parse(child.text);
    row.outcome = outcome_from(result, row.point.machine);
    if (timeline_ != nullptr) timeline_->told = result.at("timeline").get<std::string>();
    row.peak_rss_bytes = child.peak_rss_bytes;
    if (!row.outcome->ranks_agree) {
      throw SimulationError("the ranks ended with different reduced gradients");
    }
    row.status = Status::ok;
  } catch (const SimulationError& error) {
    row.reason = error.what();
    if (row.point.packets) row.reason += fmt::format("; with packets {}", kPacketsHint);
    row.outcome.reset();
  } catch (const std::bad_alloc&) {
    row.reason = "out of memory; a larger granule carries less";
  }
  return row;
}

Row make_row(const std::string& sweep, const Point& point, bool verbose, TimelineWish* timeline) {
  RowRun run(sweep, point, {}, verbose, timeline, AlphaBetaTime::beside);
  run.wait();
  return run.finish();
}

Json to_json(const Row& row) {
  const bool has_clock = find_network(row.point.network).has_clock;
  return {{"schema", kRowSchema},
          {"sweep", row.sweep},
          {"key", row.key},
          {"version", row.version},
          {"status", name_of(row.status)},
          {"reason", row.reason.empty() ? Json() : Json(row.reason)},
          {"point", to_json(row.point)},
          {"result", row.outcome ? to_json(*row.outcome, has_clock) : Json()},
          {"wall_s", row.wall_s},
          {"peak_rss_bytes", row.peak_rss_bytes}};
}

Row row_from(const Json& json, const std::string& origin) {
  try {
    if (!json.is_object() || !json.contains("schema")) {
      throw InputError("this is not a row of results (no key 'schema')");
    }
    if (json.at("schema").is_string()) {
      throw InputError(fmt::format(
          "/schema: '{}' is a report, not results, which sweep -o and run --format jsonl write",
          json.at("schema").get<std::string>()));
    }
    if (json.at("schema") != kRowSchema) {
      throw InputError(fmt::format("/schema: rows of schema {} are read here, this one is of {}",
                                   kRowSchema, json.at("schema").dump()));
    }
    Row row{.sweep = json.at("sweep").get<std::string>(),
            .key = json.at("key").get<std::string>(),
            .version = json.at("version").get<std::string>(),
            .point = point_from(json.at("point"), "/point"),
            .status = status_from(json.at("status").get<std::string>()),
            .reason = json.at("reason").is_null() ? "" : json.at("reason").get<std::string>(),
            .outcome = {},
            .wall_s = json.at("wall_s").get<double>(),
            .peak_rss_bytes = json.at("peak_rss_bytes").get<std::int64_t>()};
    if (row.status == Status::ok) {
      row.outcome = outcome_from(json.at("result"), row.point.machine);
    }
    return row;
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: not a row of results: {}", origin, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", origin, error.what()));
  }
}

RowsFile rows_from(const std::string& text, const std::string& path) {
  RowsFile result;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string origin = fmt::format("{}:{}", path, number);
    const bool complete = !lines.eof();  // a line without its end was being written
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() && !complete) {
      result.truncated = true;
    } else if (json.is_discarded()) {
      throw InputError(fmt::format("{}: not JSON; results are one JSON object a line", origin));
    } else {
      result.rows.push_back(row_from(json, origin));
    }
  }
  return result;
}

RowsFile read_rows(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    throw InputError(fmt::format("{}: cannot be read; is there such a file?", path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return rows_from(text.str(), path);
}

}  // namespace thinwire::experiment
