#include "sim/app/studies/validate/machine_description.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/app/plan/config.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::studies {

namespace {

constexpr const char* kAlpha = "alpha_s";
constexpr const char* kBeta = "beta_s_per_word";
constexpr const char* kGamma = "gamma_s_per_word";

/// The settings that a description may have: not those that follow from a measured row.
plan::Settings settings_of_machines() {
  plan::Settings settings = plan::point_settings();
  std::erase_if(settings, [](const plan::Setting& setting) {
    constexpr std::array<std::string_view, 7> kOfRows{"placement",  "components", "tensors",
                                                      "iterations", "granule",    "error_feedback",
                                                      "approximate"};
    const std::string group = setting.group();
    const bool of_scheme = setting.aspect == plan::Aspect::scheme && setting.path != "options";
    return of_scheme || setting.aspect == plan::Aspect::size || group == "input" ||
           group == "record" || group == "workload" ||
           std::ranges::find(kOfRows, setting.path) != kOfRows.end();
  });
  return settings;
}

RowFilter row_filter(const JsonNode& node) {
  node.be_object(std::array<std::string_view, 6>{"run", "nodes", "test", "collective", "algorithm",
                                                 "min_over_median"});
  RowFilter rows{.run = node.at("run").text()};
  if (node.has("nodes")) {
    const std::int64_t nodes = node.at("nodes").whole_from(1);
    if (nodes > INT32_MAX) node.at("nodes").wrong("a number of nodes");
    rows.nodes = static_cast<int>(nodes);
  }
  if (node.has("test")) rows.test = node.at("test").text();
  if (node.has("algorithm")) rows.algorithm = node.at("algorithm").text();
  if (node.has("min_over_median")) {
    rows.min_over_median = node.at("min_over_median").number_from(0);
    if (*rows.min_over_median > 1) node.at("min_over_median").wrong("at most 1");
  }
  if (node.has("collective")) {
    rows.collective = node.at("collective").text();
    const std::vector<std::string>& known = known_collectives();
    if (std::ranges::find(known, *rows.collective) == known.end()) {
      node.at("collective").wrong("allreduce, allgather, reduce_scatter, alltoall or ping_pong");
    }
  }
  return rows;
}

}  // namespace

bool RowFilter::matches(const MeasuredRow& row) const {
  return row.run == run && (!nodes || *nodes == row.nodes) && (!test || *test == row.test) &&
         (!collective || *collective == row.collective) &&
         (!algorithm || *algorithm == row.algorithm) &&
         (!min_over_median || row.seconds_min == 0 ||
          row.seconds_min >= *min_over_median * row.seconds);
}

Json MachineDescription::settings_of(const std::string& run) const {
  Json own = settings;
  if (const auto found = of_runs.find(run); found != of_runs.end()) {
    own[Json::json_pointer(plan::pointer_of(probed))] = found->second.value;
  }
  return own;
}

bool MachineDescription::calibrated(const MeasuredRow& row) const {
  return std::ranges::any_of(calibrated_on,
                             [&](const RowFilter& rows) { return rows.matches(row); });
}

MachineDescription read_machine(const std::string& path) {
  const Json json = read_json(path);
  const JsonNode root(path, json);
  root.be_object(std::array<std::string_view, 9>{"name", "gpu", "summary", "settings",
                                                 "calibration", "formula", "calibrated_on",
                                                 "probed", "sources"});
  MachineDescription machine;
  machine.path = path;
  machine.name = root.at("name").text();
  if (machine.name.empty()) root.at("name").wrong("the name that measured rows have");
  machine.gpu = root.has("gpu") && root.at("gpu").flag();
  if (root.has("summary")) machine.summary = root.at("summary").text();
  machine.settings = root.at("settings").json();
  plan::check_point(machine.settings, path + ": /settings", settings_of_machines());
  if (root.has("calibrated_on")) {
    for (const JsonNode& rows : root.at("calibrated_on").elements()) {
      machine.calibrated_on.push_back(row_filter(rows));
    }
  }
  if (root.has("probed")) {
    machine.probed = root.at("probed").text();
    const Json::json_pointer at(plan::pointer_of(machine.probed));
    if (!machine.settings.contains(at) || !machine.settings.at(at).is_number_float() ||
        machine.settings.at(at) <= 0) {
      root.at("probed").wrong("a setting of the description with a number above 0");
    }
  }
  if (root.has("formula")) {
    const JsonNode formula = root.at("formula");
    formula.be_object(std::array<std::string_view, 3>{kAlpha, kBeta, kGamma});
    machine.formula = {Seconds(formula.at(kAlpha).number_from(0)),
                       Seconds(formula.at(kBeta).number_from(0)),
                       Seconds(formula.at(kGamma).number_from(0))};
  }
  if (root.has("sources")) {
    for (const JsonNode& source : root.at("sources").elements()) {
      machine.sources.push_back(source.text());
    }
  }
  return machine;
}

Json to_json(const PlainMachine& formula) {
  return {{kAlpha, formula.alpha.value()},
          {kBeta, formula.beta_per_word.value()},
          {kGamma, formula.gamma_per_word.value()}};
}

}  // namespace thinwire::studies
