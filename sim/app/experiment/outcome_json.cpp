#include "sim/app/experiment/outcome_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/core/base/errors.hpp"

namespace thinwire::experiment {

namespace {

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

}  // namespace

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

}  // namespace thinwire::experiment
