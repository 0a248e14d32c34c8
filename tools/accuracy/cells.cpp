#include "tools/accuracy/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/registry.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/app/run/simulation.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::accuracy {

namespace {

constexpr const char* kUnequal = "unequal";
constexpr std::int64_t kSmall = 1'000;
constexpr std::int64_t kMedium = 64'000;
constexpr std::int64_t kLarge = 4'000'000;

constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kEntryBytes = 8;
constexpr std::int64_t kComponentsPerEntry = 100;  // a density of 1%
/// The skew with which stratum j of the selection ends at (j/k)^2 of the gradient.
constexpr double kSkew = 1;
/// The entries that all ranks hold together, few enough that values cost little to simulate.
constexpr std::int64_t kCarriedEntries = 1 << 22;
constexpr std::int64_t kEntriesPerRegion = 4;

std::int64_t bytes_of(const std::string& size) {
  if (size == "1kB") return kSmall;
  if (size == "4MB") return kLarge;
  return kMedium;
}

const std::vector<std::string>& all_sizes() {
  static const std::vector<std::string> sizes{"1kB", "64kB", "4MB", kUnequal};
  return sizes;
}

std::vector<std::string> names_of_patterns() {
  std::vector<std::string> names;
  for (const Pattern& pattern : all_patterns()) names.push_back(pattern.name);
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    if (!scheme.in_switches) names.push_back(scheme.name);  // SimGrid's only forward
  }
  return names;
}

/// A power of two for which all ranks hold about kCarriedEntries and each region some entries.
std::int64_t granule_of(std::int64_t held, int ranks) {
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(
      1, std::min(held * ranks / kCarriedEntries, held / (kEntriesPerRegion * ranks))));
  return static_cast<std::int64_t>(std::bit_floor(wanted));
}

Json scheme_of(const Cell& cell) {
  const algorithms::SchemeInfo& scheme = algorithms::find_scheme(cell.pattern);
  const std::int64_t bytes = bytes_of(cell.size);
  Json json = {{"scheme", cell.pattern}, {"iterations", 1}, {"seed", 1}};
  const std::int64_t held = bytes / (scheme.dense ? kWordBytes : kEntryBytes);
  json["components"] = scheme.dense ? held : kComponentsPerEntry * held;
  if (!scheme.dense) json["k"] = held;
  json["granule"] = granule_of(held, cell.ranks);
  if (cell.size == kUnequal) json["input"] = {{"skew", kSkew}};
  return json;
}

std::string write_platform(const std::string& path, const std::string& family_name,
                           const std::map<std::string, std::string>& parameters) {
  std::ofstream file(path);
  file << make_platform(topologies::family(family_name), parameters);
  if (!file.flush()) {
    throw InputError("{}: cannot be written; set TMPDIR to a folder with room", path);
  }
  return path;
}

}  // namespace

std::string name_of(const Cell& cell) {
  return fmt::format("{} on {}, {} ranks, {}{}", cell.pattern, cell.platform, cell.ranks, cell.size,
                     cell.placement == "block" ? "" : ", placement " + cell.placement);
}

Json to_json(const Cell& cell) {
  return {{"pattern", cell.pattern},
          {"platform", cell.platform},
          {"ranks", cell.ranks},
          {"size", cell.size},
          {"placement", cell.placement}};
}

Cell cell_from(const Json& json) {
  return {.pattern = json.at("pattern").get<std::string>(),
          .platform = json.at("platform").get<std::string>(),
          .ranks = json.at("ranks").get<int>(),
          .size = json.at("size").get<std::string>(),
          .placement = json.at("placement").get<std::string>()};
}

Axes all_axes() {
  return {.patterns = names_of_patterns(),
          .platforms = {"aries_daint", "fat_tree_1to1", "fat_tree_4to1", "nvlink_ib", "gige_star"},
          .ranks = {16, 64, 256, 512},
          .sizes = all_sizes()};
}

void check_axes(const Axes& axes) {
  const auto check = [](const std::vector<std::string>& given,
                        const std::vector<std::string>& known, const char* what) {
    for (const std::string& name : given) {
      if (std::ranges::find(known, name) != known.end()) continue;
      throw InputError("unknown {} '{}'{}", what, name, did_you_mean(name, known));
    }
  };
  const Axes all = all_axes();
  check(axes.patterns, all.patterns, "pattern");
  check(axes.platforms, all.platforms, "platform of the table");
  check(axes.sizes, all.sizes, "size");
  for (const int ranks : axes.ranks) {
    if (ranks < 1) throw InputError("{} ranks: expected a number from 1", ranks);
  }
  topologies::check_placement(axes.placement);
}

std::vector<Cell> cells_of(const Axes& axes) {
  std::vector<Cell> cells;
  for (const std::string& pattern : axes.patterns) {
    for (const std::string& platform : axes.platforms) {
      for (const int ranks : axes.ranks) {
        for (const std::string& size : axes.sizes) {
          cells.emplace_back() = {pattern, platform, ranks, size, axes.placement};
        }
      }
    }
  }
  return cells;
}

std::optional<std::string> restriction_of(const Cell& cell) {
  if (pattern_named(cell.pattern) != nullptr) return std::nullopt;
  const algorithms::SchemeInfo& scheme = algorithms::find_scheme(cell.pattern);
  if (scheme.dense && cell.size == kUnequal) return "a dense gradient's parts are all equal";
  return scheme.restriction(cell.ranks, scheme_of(cell).at("components").get<std::int64_t>());
}

std::map<std::string, std::string> write_platforms(const std::string& folder) {
  // The shipped three levels, but the last has two children: 512 hosts.
  const auto fat_tree = [&](const std::string& name, const std::string& oversubscription) {
    return write_platform(folder + "/" + name + ".xml", "fat_tree",
                          {{"hosts", "512"}, {"oversubscription", oversubscription}});
  };
  // The shipped figures, but not in one zone, where SimGrid's routing is cubic in the hosts.
  const std::string star = write_platform(
      folder + "/gige_star.xml", "star",
      {{"hosts", "512"}, {"bandwidth", "118.2MBps"}, {"latency", "12.3us"}, {"gap", "5us"}});
  return {{"aries_daint", topologies::kPlatforms.file("aries_daint")},
          {"fat_tree_1to1", fat_tree("fat_tree_1to1", "1,1")},
          {"fat_tree_4to1", fat_tree("fat_tree_4to1", "4,1")},
          {"nvlink_ib", topologies::kPlatforms.file("nvlink_ib")},
          {"gige_star", star}};
}

plan::Point point_of(const Cell& cell, const Side& side, const std::string& platform_file) {
  Json json = pattern_named(cell.pattern) != nullptr ? Json::object() : scheme_of(cell);
  json["network"] = side.network;
  json["platform"] = platform_file;
  json["placement"] = cell.placement;
  json["ranks"] = cell.ranks;
  for (const auto& setting : side.settings.items()) {
    plan::set_by_path(json, setting.key(), setting.value());
  }
  return plan::point_from(json, name_of(cell));
}

PatternMessages messages_of(const Cell& cell) {
  PatternMessages messages;
  messages.lengths =
      cell.size == kUnequal
          ? MessageLengths::between(Words(kSmall / kWordBytes), Words(kLarge / kWordBytes), 1)
          : MessageLengths::equal(Words(bytes_of(cell.size) / kWordBytes));
  return messages;
}

double expected_s(const Cell& cell, const plan::Point& point) {
  // Unequal messages end one by one, and SimGrid recomputes the sharing of links for each.
  const double unevenness = cell.size == kUnequal ? 4 : 1;
  const Pattern* const pattern = pattern_named(cell.pattern);
  if (pattern == nullptr) return run::estimated_wall_s(point) * unevenness;
  constexpr double kLoading = 0.2;
  constexpr double kMessage = 1e-5;
  constexpr double kMessageAFlow = 2e-8;  // per flow that is in flight with the message
  const double flows = cell.pattern == "incast" ? cell.ranks : cell.ranks * pattern->in_flight;
  return kLoading + static_cast<double>(pattern->messages(cell.ranks)) *
                        (kMessage + kMessageAFlow * flows * unevenness);
}

}  // namespace thinwire::accuracy
