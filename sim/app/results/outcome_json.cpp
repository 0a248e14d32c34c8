#include "sim/app/results/outcome_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/core/base/printable.hpp"

namespace thinwire::results {

namespace {

/// The key of a kind of work, whose maximum over the ranks a row has.
std::string key_of_work(const char* name) { return std::string(name) + "_max"; }

Json to_json(const SelectionSummary& selection) {
  Json json{{"selected_min", selection.least},   {"selected_max", selection.most},
            {"selected_total", selection.total}, {"ranks", selection.ranks},
            {"sent_min", selection.sent_least},  {"sent_max", selection.sent_most}};
  for (const auto& [name, kind] : algorithms::kWorkKinds) {
    json[key_of_work(name)] = selection.work.*kind;
  }
  return json;
}

constexpr std::array kReducingLevels{std::pair{"node", ReducingLevel::node},
                                     std::pair{"network", ReducingLevel::network}};

int int_from(const JsonNode& node) { return static_cast<int>(node.whole()); }

SelectionSummary selection_from(const JsonNode& node) {
  const auto count = [&](const std::string& key) { return node.at(key).whole(); };
  const auto count_or = [&](const std::string& key, std::int64_t other) {  // absent in older rows
    return node.has(key) ? count(key) : other;
  };
  algorithms::SelectionWork work;
  for (const auto& [name, kind] : algorithms::kWorkKinds)
    work.*kind = count_or(key_of_work(name), 0);
  return {.least = count("selected_min"),
          .most = count("selected_max"),
          .total = count("selected_total"),
          .sent_least = count_or("sent_min", count("selected_min")),
          .sent_most = count_or("sent_max", count("selected_max")),
          .ranks = int_from(node.at("ranks")),
          .work = work};
}

Json to_json(const ReducingSwitches& switches) {
  Json json = Json::object();
  for (const auto& [name, level] : kReducingLevels) {
    const std::optional<ReducingSwitch>& one = switches.at(level);
    if (!one) continue;
    json[name] = {{"bandwidth", one->bandwidth}, {"latency_s", one->latency.value()}};
  }
  return json;
}

ReducingSwitches switches_from(const JsonNode& node) {
  ReducingSwitches switches;
  for (const auto& [name, level] : kReducingLevels) {
    if (!node.has(name)) continue;
    const JsonNode one = node.at(name);
    std::optional<ReducingSwitch>& found =
        level == ReducingLevel::node ? switches.node : switches.network;
    found = ReducingSwitch{.bandwidth = one.at("bandwidth").number(),
                           .latency = Seconds(one.at("latency_s").number())};
  }
  return switches;
}

Json to_json(const workloads::IterationParts& parts) {
  return {{"time_s", parts.total().value()},
          {"computation_s", parts.computation.value()},
          {"sparsification_s", parts.sparsification.value()},
          {"communication_s", parts.communication.value()}};
}

workloads::IterationParts parts_from(const JsonNode& node) {
  return {.computation = Seconds(node.at("computation_s").number()),
          .sparsification = Seconds(node.at("sparsification_s").number()),
          .communication = Seconds(node.at("communication_s").number())};
}

Json to_json(const workloads::WeightedIteration& which) {
  return {{"iteration", which.iteration}, {"weight", which.weight}, {"periodic", which.periodic}};
}

workloads::WeightedIteration weighted_from(const JsonNode& node) {
  return {.iteration = int_from(node.at("iteration")),
          .weight = node.at("weight").number(),
          .periodic = node.has("periodic") && node.at("periodic").flag()};  // absent in older rows
}

Json to_json(const TrainingOutcome& training) {
  Json json = to_json(training.mean);
  json["samples_per_s"] = training.samples_per_s;
  json["kinds"] = Json::array();
  for (const IterationKind& kind : training.kinds) {
    Json one = to_json(kind.which);
    one.update(to_json(kind.parts));
    json["kinds"].push_back(one);
  }
  return json;
}

TrainingOutcome training_from(const JsonNode& node) {
  TrainingOutcome training{
      .mean = parts_from(node), .samples_per_s = node.at("samples_per_s").number(), .kinds = {}};
  for (const JsonNode& kind : node.at("kinds").elements()) {
    training.kinds.push_back({weighted_from(kind), parts_from(kind)});
  }
  return training;
}

Json to_json(const Quartiles& times) {
  return {{"median_s", times.median.value()},
          {"min_s", times.least.value()},
          {"p10_s", times.p10.value()},
          {"p90_s", times.p90.value()}};
}

Quartiles quartiles_from(const JsonNode& node) {
  const auto seconds = [&](const char* key) { return Seconds(node.at(key).number()); };
  return {.median = seconds("median_s"),
          .least = seconds("min_s"),
          .p10 = seconds("p10_s"),
          .p90 = seconds("p90_s")};
}

Json to_json(const Measured& measured) {
  Json json = to_json(measured.time);
  json["warm_up"] = measured.warm_up;
  json["iterations"] = measured.iterations;
  json["checked"] = measured.checked;
  json["library"] = printable(measured.library);
  json["hosts"] = Json::array();
  for (const std::string& host : measured.hosts) json["hosts"].push_back(printable(host));
  json["library_allreduce"] =
      measured.library_allreduce ? to_json(*measured.library_allreduce) : Json();
  return json;
}

Measured measured_from(const JsonNode& node) {
  Measured measured{.time = quartiles_from(node),
                    .warm_up = int_from(node.at("warm_up")),
                    .iterations = int_from(node.at("iterations")),
                    .checked = node.at("checked").flag(),
                    .library = node.at("library").text(),
                    .hosts = {}};
  for (const JsonNode& host : node.at("hosts").elements()) measured.hosts.push_back(host.text());
  const JsonNode beside = node.at("library_allreduce");
  if (!beside.json().is_null()) measured.library_allreduce = quartiles_from(beside);
  return measured;
}

Seconds seconds_from(const JsonNode& node) {
  return node.json().is_null() ? Seconds(0) : Seconds(node.number());
}

Spread spread_from(const JsonNode& node, const std::string& name) {
  return {.max = node.at(name + "_max").whole(), .mean = node.at(name + "_mean").number()};
}

LinkReport link_from(const JsonNode& node) {
  return {.name = node.at("name").text(),
          .bandwidth = node.at("bandwidth_bytes_per_s").number(),
          .carried = Bytes(node.at("bytes").whole()),
          .mean_utilisation = node.at("utilisation_mean").number(),
          .peak_utilisation = node.at("utilisation_peak").number()};
}

RankPhase rank_phase_from(const JsonNode& node) {
  const auto count = [&](const std::string& key) { return node.at(key).whole(); };
  return {.rank = int_from(node.at("rank")),
          .phase = node.at("phase").text(),
          .traffic = {.messages_sent = count("messages_sent"),
                      .messages_received = count("messages_received"),
                      .words_sent = Words(count("words_sent")),
                      .words_received = Words(count("words_received")),
                      .time = seconds_from(node.at("time_s"))}};
}

/// Of what is null where there is none.
std::vector<JsonNode> elements_if_any(const JsonNode& node) {
  return node.json().is_null() ? std::vector<JsonNode>() : node.elements();
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
  Json kinds = Json::array();
  for (const KindTime& kind : outcome.kinds) {
    kinds.push_back(to_json(kind.which));
    kinds.back()["time_s"] = kind.time.value();
  }
  Json links = Json::array();
  for (const LinkReport& link : outcome.links) {
    links.push_back({{"name", printable(link.name)},
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
  Json json = {
      {"iteration", outcome.iteration},
      {"time_s", seconds(outcome.time())},
      {"iteration_times_s", times},
      {"kinds", outcome.kinds.empty() ? Json() : kinds},
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
      {"settling_iterations",
       outcome.settling_iterations ? Json(*outcome.settling_iterations) : Json()},
      {"settling_cut_short",
       outcome.settling_iterations ? Json(outcome.settling_cut_short) : Json()},
      {"global_errors", outcome.global_errors.empty() ? Json() : Json(outcome.global_errors)},
      {"alpha_s", outcome.machine.alpha.value()},
      {"beta_s_per_word", outcome.machine.beta_per_word.value()},
      {"alphabeta_time_s", outcome.alphabeta_time ? Json(outcome.alphabeta_time->value()) : Json()},
      {"congestion_factor", congestion ? Json(*congestion) : Json()},
      {"training", outcome.training ? to_json(*outcome.training) : Json()},
      {"phases", phases},
      {"links", outcome.links.empty() ? Json() : links},
      {"by_rank", outcome.by_rank.empty() ? Json() : by_rank}};
  if (outcome.extrapolated_chunks) json["extrapolated_chunks"] = *outcome.extrapolated_chunks;
  if (outcome.machine.node > 0) json["node"] = outcome.machine.node;
  if (outcome.machine.switches.any()) json["switches"] = to_json(outcome.machine.switches);
  if (outcome.measured) json["measured"] = to_json(*outcome.measured);
  return json;
}

Outcome outcome_from(const JsonNode& node, const plan::Machine& given) {
  const auto given_there = [&](const char* key) {  // absent in older rows
    return node.has(key) && !node.at(key).json().is_null();
  };
  if (!node.json().is_object()) node.wrong("an object");
  Outcome outcome;
  outcome.machine = given;
  outcome.machine.alpha = Seconds(node.at("alpha_s").number());
  outcome.machine.beta_per_word = Seconds(node.at("beta_s_per_word").number());
  if (given_there("node")) outcome.machine.node = static_cast<int>(node.at("node").number());
  if (given_there("switches")) outcome.machine.switches = switches_from(node.at("switches"));
  if (!node.at("alphabeta_time_s").json().is_null()) {
    outcome.alphabeta_time = seconds_from(node.at("alphabeta_time_s"));
  }
  for (const JsonNode& link : elements_if_any(node.at("links"))) {
    outcome.links.push_back(link_from(link));
  }
  for (const JsonNode& one : elements_if_any(node.at("by_rank"))) {
    outcome.by_rank.push_back(rank_phase_from(one));
  }
  outcome.iteration = int_from(node.at("iteration"));
  for (const JsonNode& time : node.at("iteration_times_s").elements()) {
    outcome.iteration_times.push_back(seconds_from(time));
  }
  if (outcome.iteration_times.empty()) node.at("iteration_times_s").wrong("one time at least");
  outcome.steps = node.at("steps").json().is_null() ? 0 : node.at("steps").whole();
  outcome.messages_sent = spread_from(node, "messages_sent");
  outcome.messages_received = spread_from(node, "messages_received");
  outcome.words_sent = spread_from(node, "words_sent");
  outcome.words_received = spread_from(node, "words_received");
  outcome.result_components = node.at("result_components").whole();
  outcome.ranks_agree = node.at("ranks_agree").flag();
  if (given_there("kinds")) {
    for (const JsonNode& kind : node.at("kinds").elements()) {
      outcome.kinds.push_back({weighted_from(kind), seconds_from(kind.at("time_s"))});
    }
  }
  if (given_there("selection")) outcome.selection = selection_from(node.at("selection"));
  if (given_there("settling_iterations")) {
    outcome.settling_iterations = int_from(node.at("settling_iterations"));
  }
  if (given_there("extrapolated_chunks")) {
    outcome.extrapolated_chunks = node.at("extrapolated_chunks").whole();
  }
  if (given_there("settling_cut_short")) {
    outcome.settling_cut_short = node.at("settling_cut_short").flag();
  }
  if (given_there("global_errors")) {
    for (const JsonNode& error : node.at("global_errors").elements()) {
      outcome.global_errors.push_back(error.number());
    }
  }
  if (given_there("measured")) outcome.measured = measured_from(node.at("measured"));
  if (seconds_from(node.at("time_s")) != outcome.time()) {
    node.at("time_s").wrong("the last of iteration_times_s, or the median of what was measured");
  }
  if (given_there("training")) outcome.training = training_from(node.at("training"));
  for (const JsonNode& phase : node.at("phases").elements()) {
    outcome.phases.push_back({.name = phase.at("name").text(),
                              .time = seconds_from(phase.at("time_s_max")),
                              .words_received = Words(phase.at("words_received_max").whole()),
                              .messages_received = phase.at("messages_received_max").whole()});
  }
  return outcome;
}

}  // namespace thinwire::results
