#include "sim/app/studies/validate/machine_description.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/app/experiment/config.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/shipped_files.hpp"

namespace thinwire::studies {

namespace {

ShippedFiles shipped_descriptions() {
  return {.what = "machine",
          .extension = ".json",
          .folders = shipped_folders("platforms/machines", "platforms/machines")};
}

/// The settings that a description may have: not those that follow from a measured row.
experiment::Settings settings_of_machines() {
  experiment::Settings settings = experiment::point_settings();
  std::erase_if(settings, [](const experiment::Setting& setting) {
    constexpr std::array<std::string_view, 6> kOfRows{"placement",  "components", "tensors",
                                                      "iterations", "granule",    "error_feedback"};
    return setting.aspect == experiment::Aspect::scheme ||
           setting.aspect == experiment::Aspect::size || setting.group() == "input" ||
           std::ranges::find(kOfRows, setting.path) != kOfRows.end();
  });
  return settings;
}

CalibrationRows calibration_rows(const JsonNode& node) {
  node.be_object(std::array<std::string_view, 4>{"run", "nodes", "test", "collective"});
  CalibrationRows rows{.run = node.at("run").text()};
  if (node.has("nodes")) rows.nodes = static_cast<int>(node.at("nodes").whole_from(1));
  if (node.has("test")) rows.test = node.at("test").text();
  if (node.has("collective")) {
    rows.collective = node.at("collective").text();
    const std::vector<std::string>& known = known_collectives();
    if (std::ranges::find(known, *rows.collective) == known.end()) {
      node.at("collective").wrong("allreduce, allgather, reduce_scatter or alltoall");
    }
  }
  return rows;
}

}  // namespace

bool CalibrationRows::contain(const MeasuredRow& row) const {
  return row.run == run && (!nodes || *nodes == row.nodes) && (!test || *test == row.test) &&
         (!collective || *collective == row.collective);
}

bool MachineDescription::calibrated(const MeasuredRow& row) const {
  return std::ranges::any_of(calibrated_on,
                             [&](const CalibrationRows& rows) { return rows.contain(row); });
}

MachineDescription read_machine(const std::string& path) {
  const Json json = read_json(path);
  const JsonNode root(path, json);
  root.be_object(std::array<std::string_view, 6>{"name", "gpu", "summary", "settings",
                                                 "calibrated_on", "sources"});
  MachineDescription machine;
  machine.path = path;
  machine.name = root.at("name").text();
  machine.gpu = root.has("gpu") && root.at("gpu").flag();
  if (root.has("summary")) machine.summary = root.at("summary").text();
  machine.settings = root.at("settings").json();
  experiment::check_point(machine.settings, path + ": /settings", settings_of_machines());
  if (root.has("calibrated_on")) {
    for (const JsonNode& rows : root.at("calibrated_on").elements()) {
      machine.calibrated_on.push_back(calibration_rows(rows));
    }
  }
  if (root.has("sources")) {
    for (const JsonNode& source : root.at("sources").elements()) {
      machine.sources.push_back(source.text());
    }
  }
  return machine;
}

std::vector<std::string> shipped_machines() { return shipped_descriptions().names(); }

std::string machine_file(const std::string& name_or_path) {
  return shipped_descriptions().file(name_or_path);
}

}  // namespace thinwire::studies
