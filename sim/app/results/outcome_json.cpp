#include "sim/app/results/outcome_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

int int_from(const JsonNode& node) {
  const std::int64_t value = node.whole();
  if (value < INT32_MIN || value > INT32_MAX) node.wrong("a whole number of 32 bits");
  return static_cast<int>(value);
}

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
  Json json = {{"time_s", parts.total().value()},
               {"computation_s", parts.computation.value()},
               {"sparsification_s", parts.sparsification.value()},
               {"communication_s", parts.communication.value()}};
  if (parts.tensor_parallel > Seconds(0)) json["tensor_parallel_s"] = parts.tensor_parallel.value();
  return json;
}

workloads::IterationParts parts_from(const JsonNode& node) {
  return {.computation = Seconds(node.at("computation_s").number()),
          .sparsification = Seconds(node.at("sparsification_s").number()),
          .communication = Seconds(node.at("communication_s").number()),
          .tensor_parallel = node.has("tensor_parallel_s")
                                 ? Seconds(node.at("tensor_parallel_s").number())
                                 : Seconds(0)};
}

Json to_json(const workloads::WeightedIteration& which) {
  return {{"iteration", which.iteration}, {"weight", which.weight}, {"periodic", which.periodic}};
}

workloads::WeightedIteration weighted_from(const JsonNode& node) {
  return {.iteration = int_from(node.at("iteration")),
          .weight = node.at("weight").number(),
          .periodic = node.has("periodic") && node.at("periodic").flag()};  // absent in older rows
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

/// A field that may be null, and that older rows lack.
std::optional<JsonNode> field(const JsonNode& node, const char* key) {
  if (!node.has(key) || node.at(key).json().is_null()) return std::nullopt;
  return node.at(key);
}

/// The elements of a list; none of what is null.
template <class Convert>
auto all_from(const std::optional<JsonNode>& list, const Convert& convert) {
  std::vector<std::decay_t<decltype(convert(*list))>> all;
  if (!list || list->json().is_null()) return all;
  for (const JsonNode& element : list->elements()) all.push_back(convert(element));
  return all;
}

template <class Values, class Convert>
Json array_of(const Values& values, const Convert& convert) {
  Json array = Json::array();
  for (const auto& value : values) array.push_back(convert(value));
  return array;
}

/// Null if there are no values.
template <class Values, class Convert>
Json array_or_null(const Values& values, const Convert& convert) {
  return values.empty() ? Json() : array_of(values, convert);
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json kind_json(const KindTime& kind) {
  Json json = to_json(kind.which);
  json["time_s"] = kind.time.value();
  if (!kind.selection) return json;
  json["selection"] = to_json(*kind.selection);
  json["result_components"] = kind.result_components;
  return json;
}

Json link_json(const LinkReport& link) {
  return {{"name", printable(link.name)},
          {"bandwidth_bytes_per_s", link.bandwidth},
          {"bytes", link.carried.value()},
          {"utilisation_mean", link.mean_utilisation},
          {"utilisation_peak", link.peak_utilisation}};
}

KindTime kind_from(const JsonNode& kind) {
  KindTime one{weighted_from(kind), seconds_from(kind.at("time_s"))};
  if (const auto selection = field(kind, "selection")) {
    one.selection = selection_from(*selection);
    one.result_components = kind.at("result_components").whole();
  }
  return one;
}

PhaseCost phase_from(const JsonNode& phase) {
  return {.name = phase.at("name").text(),
          .time = seconds_from(phase.at("time_s_max")),
          .words_received = Words(phase.at("words_received_max").whole()),
          .messages_received = phase.at("messages_received_max").whole()};
}

/// What the platform said of the machine; the rest of it is `given`.
plan::Machine machine_from(const JsonNode& node, const plan::Machine& given) {
  plan::Machine machine = given;
  machine.alpha = Seconds(node.at("alpha_s").number());
  machine.beta_per_word = Seconds(node.at("beta_s_per_word").number());
  if (const auto latency = field(node, "route_latency_s")) {
    machine.route_latency = seconds_from(*latency);
  }
  if (const auto ranks = field(node, "node")) machine.node = int_from(*ranks);
  if (const auto switches = field(node, "switches")) machine.switches = switches_from(*switches);
  return machine;
}

/// The costs of the reported iteration.
void take_costs(const JsonNode& node, Outcome& outcome) {
  const auto steps = field(node, "steps");
  outcome.steps = steps ? steps->whole() : 0;
  outcome.messages_sent = spread_from(node, "messages_sent");
  outcome.messages_received = spread_from(node, "messages_received");
  outcome.words_sent = spread_from(node, "words_sent");
  outcome.words_received = spread_from(node, "words_received");
  outcome.phases = all_from(node.at("phases"), phase_from);
  outcome.links = all_from(node.at("links"), link_from);
  outcome.by_rank = all_from(node.at("by_rank"), rank_phase_from);
}

/// What only some runs have.
void take_further(const JsonNode& node, Outcome& outcome) {
  outcome.kinds = all_from(field(node, "kinds"), kind_from);
  outcome.global_errors =
      all_from(field(node, "global_errors"), [](const JsonNode& error) { return error.number(); });
  if (const auto time = field(node, "alphabeta_time_s"))
    outcome.alphabeta_time = seconds_from(*time);
  if (const auto one = field(node, "selection")) outcome.selection = selection_from(*one);
  if (const auto one = field(node, "settling_iterations")) {
    outcome.settling_iterations = int_from(*one);
  }
  if (const auto one = field(node, "settling_cut_short")) outcome.settling_cut_short = one->flag();
  if (const auto one = field(node, "extrapolated_chunks"))
    outcome.extrapolated_chunks = one->whole();
  if (const auto one = field(node, "compressed_tensors")) outcome.compressed_tensors = one->whole();
  if (const auto one = field(node, "measured")) outcome.measured = measured_from(*one);
  if (const auto one = field(node, "training")) outcome.training = training_from(*one);
}

}  // namespace

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

Json to_json(const Outcome& outcome, bool has_clock) {
  const auto seconds = [&](Seconds time) { return has_clock ? Json(time.value()) : Json(); };
  const auto phase_json = [&](const PhaseCost& phase) {
    return Json{{"name", phase.name},
                {"time_s_max", seconds(phase.time)},
                {"words_received_max", phase.words_received.value()},
                {"messages_received_max", phase.messages_received}};
  };
  const auto rank_json = [&](const RankPhase& one) {
    return Json{{"rank", one.rank},
                {"phase", one.phase},
                {"time_s", seconds(one.traffic.time)},
                {"words_sent", one.traffic.words_sent.value()},
                {"words_received", one.traffic.words_received.value()},
                {"messages_sent", one.traffic.messages_sent},
                {"messages_received", one.traffic.messages_received}};
  };
  const bool settled = outcome.settling_iterations.has_value();
  const std::optional<Seconds>& alphabeta = outcome.alphabeta_time;
  Json json = {
      {"iteration", outcome.iteration},
      {"time_s", seconds(outcome.time())},
      {"iteration_times_s", array_of(outcome.iteration_times, seconds)},
      {"kinds", array_or_null(outcome.kinds, kind_json)},
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
      {"settling_iterations", or_null(outcome.settling_iterations)},
      {"settling_cut_short", settled ? Json(outcome.settling_cut_short) : Json()},
      {"global_errors", outcome.global_errors.empty() ? Json() : Json(outcome.global_errors)},
      {"alpha_s", outcome.machine.alpha.value()},
      {"beta_s_per_word", outcome.machine.beta_per_word.value()},
      {"route_latency_s", outcome.machine.route_latency.value()},
      {"alphabeta_time_s", alphabeta ? Json(alphabeta->value()) : Json()},
      {"congestion_factor", or_null(outcome.congestion_factor())},
      {"training", outcome.training ? to_json(*outcome.training) : Json()},
      {"phases", array_of(outcome.phases, phase_json)},
      {"links", array_or_null(outcome.links, link_json)},
      {"by_rank", array_or_null(outcome.by_rank, rank_json)}};
  if (outcome.extrapolated_chunks) json["extrapolated_chunks"] = *outcome.extrapolated_chunks;
  if (outcome.compressed_tensors) json["compressed_tensors"] = *outcome.compressed_tensors;
  if (outcome.machine.node > 0) json["node"] = outcome.machine.node;
  if (outcome.machine.switches.any()) json["switches"] = to_json(outcome.machine.switches);
  if (outcome.measured) json["measured"] = to_json(*outcome.measured);
  return json;
}

Outcome outcome_from(const JsonNode& node, const plan::Machine& given) {
  if (!node.json().is_object()) node.wrong("an object");
  Outcome outcome;
  outcome.machine = machine_from(node, given);
  outcome.iteration = int_from(node.at("iteration"));
  outcome.iteration_times = all_from(node.at("iteration_times_s"), seconds_from);
  if (outcome.iteration_times.empty()) node.at("iteration_times_s").wrong("one time at least");
  take_costs(node, outcome);
  outcome.result_components = node.at("result_components").whole();
  outcome.ranks_agree = node.at("ranks_agree").flag();
  take_further(node, outcome);
  if (seconds_from(node.at("time_s")) != outcome.time()) {
    node.at("time_s").wrong("the last of iteration_times_s, or the median of what was measured");
  }
  return outcome;
}

}  // namespace thinwire::results
