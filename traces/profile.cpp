#include "traces/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::traces {

namespace {

constexpr std::string_view kProfileFormat = "thinwire-profile";
constexpr int kProfileVersion = 1;
/// The tolerance of the mean of the relative densities, which are written in a few digits.
constexpr double kMeanTolerance = 1e-3;
constexpr std::int64_t kMostComponents = std::numeric_limits<std::uint32_t>::max();

constexpr std::array<std::string_view, 3> kKinds{"fitted", "calibrated", "assumed"};

enum class Bounds : std::uint8_t { from_0, above_0, below_1, to_1 };
constexpr std::array kRangeTexts{"a number, at least 0", "a number above 0",
                                 "a number, at least 0, below 1",
                                 "a number, at least 0, at most 1"};

bool lies_in(Bounds range, double value) {
  return std::isfinite(value) && (range == Bounds::above_0 ? value > 0 : value >= 0) &&
         (range != Bounds::below_1 || value < 1) && (range != Bounds::to_1 || value <= 1);
}

template <auto kGroup, auto kMember>
double& member(Profile& profile) {
  return profile.*kGroup.*kMember;
}

/// A number of the profile with its place and range, which reading, writing and checking share.
struct Number {
  std::string_view group;
  std::string_view name;
  double& (*in)(Profile& profile);  ///< nullptr: popularity.block, which is whole
  Bounds range;
};

constexpr auto kNumbers = std::to_array<Number>({
    {"popularity", "rho", member<&Profile::popularity, &Popularity::rho>, Bounds::below_1},
    {"popularity", "beta_a", member<&Profile::popularity, &Popularity::beta_a>, Bounds::above_0},
    {"popularity", "never", member<&Profile::popularity, &Popularity::never>, Bounds::below_1},
    {"popularity", "block", nullptr, Bounds::above_0},
    {"popularity", "clustering", member<&Profile::popularity, &Popularity::clustering>,
     Bounds::to_1},
    {"popularity", "bursts", member<&Profile::popularity, &Popularity::bursts>, Bounds::from_0},
    {"magnitudes", "shape", member<&Profile::magnitudes, &Magnitudes::shape>, Bounds::above_0},
    {"magnitudes", "scale", member<&Profile::magnitudes, &Magnitudes::scale>, Bounds::above_0},
    {"magnitudes", "below", member<&Profile::magnitudes, &Magnitudes::below>, Bounds::above_0},
    {"magnitudes", "rms", member<&Profile::magnitudes, &Magnitudes::rms>, Bounds::above_0},
    {"magnitudes", "mean", member<&Profile::magnitudes, &Magnitudes::mean>, Bounds::above_0},
    {"thresholds", "ranks", member<&Profile::thresholds, &ThresholdDrift::ranks>, Bounds::from_0},
    {"thresholds", "noise", member<&Profile::thresholds, &ThresholdDrift::noise>, Bounds::from_0},
    {"thresholds", "walk", member<&Profile::thresholds, &ThresholdDrift::walk>, Bounds::from_0},
    {"thresholds", "memory", member<&Profile::thresholds, &ThresholdDrift::memory>,
     Bounds::above_0},
    {"thresholds", "start", member<&Profile::thresholds, &ThresholdDrift::start>, Bounds::above_0},
    {"thresholds", "filling", member<&Profile::thresholds, &ThresholdDrift::filling>,
     Bounds::above_0},
});

void check_numbers(Profile profile, const std::string& path) {
  for (const Number& number : kNumbers) {
    if (number.in == nullptr || lies_in(number.range, number.in(profile))) continue;
    refuse_value(path, fmt::format("/{}/{}", number.group, number.name),
                 fmt::format("{}", number.in(profile)),
                 kRangeTexts.at(static_cast<std::size_t>(number.range)));
  }
  if (profile.popularity.block < 1 || profile.popularity.block > kMostComponents) {
    refuse_value(path, "/popularity/block", fmt::format("{}", profile.popularity.block),
                 fmt::format("a whole number, at least 1, at most {}", kMostComponents));
  }
  if (profile.magnitudes.mean > profile.magnitudes.rms) {
    refuse_value(path, "/magnitudes/mean", fmt::format("{}", profile.magnitudes.mean),
                 fmt::format("at most rms, {}: no mean is above the root of its mean square",
                             profile.magnitudes.rms));
  }
}

void check_layers(const Profile& profile, const std::string& path) {
  if (profile.layers.empty()) refuse_value(path, "/layers", "[]", "one layer at least");
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const Layer& layer = profile.layers[i];
    if (layer.size < 1 || layer.size > profile.components) {
      refuse_value(
          path, fmt::format("/layers/{}/size", i), fmt::format("{}", layer.size),
          fmt::format("a whole number, at least 1, at most the {} components", profile.components));
    }
    sum += layer.size;
    if (sum > kMostComponents) break;
  }
  if (sum != profile.components) {
    refuse(path, "/layers",
           fmt::format("their sizes add up to {}, expected the {} components",
                       sum > kMostComponents ? fmt::format("more than {}", kMostComponents)
                                             : fmt::format("{}", sum),
                       profile.components));
  }
}

void check_region(const Profile& profile, std::size_t i, const std::string& path) {
  const ProfileRegion& region = profile.regions[i];
  const std::string pointer = fmt::format("/regions/{}", i);
  const std::size_t before = i == 0 ? 0 : profile.regions[i - 1].layer;
  if (region.layer >= profile.layers.size()) {
    refuse_value(
        path, pointer + "/layer", fmt::format("{}", region.layer),
        fmt::format("the position of one of the {} layers, from 0", profile.layers.size()));
  }
  if (region.layer < before) {
    refuse_value(
        path, pointer + "/layer", fmt::format("{}", region.layer),
        fmt::format("at least {}, as of the region before: regions follow one another", before));
  }
  const std::int64_t layer_size = profile.layers[region.layer].size;
  if (region.size < 1 || region.size > layer_size) {
    refuse_value(path, pointer + "/size", fmt::format("{}", region.size),
                 fmt::format("a whole number, at least 1, at most the {} of the layer '{}'",
                             layer_size, profile.layers[region.layer].name));
  }
  const double most = (1 - profile.popularity.never) / profile.density;
  if (!std::isfinite(region.density) || region.density < 0) {
    refuse_value(path, pointer + "/density", fmt::format("{}", region.density),
                 "a number, at least 0");
  }
  if (region.density > most * (1 + 1e-12)) {
    refuse_value(
        path, pointer + "/density", fmt::format("{}", region.density),
        fmt::format("at most {}: with the density {} {}", most, profile.density,
                    profile.popularity.never > 0
                        ? fmt::format("and the share {} of those that are never selected, the "
                                      "others' probabilities would be above 1",
                                      profile.popularity.never)
                        : std::string("probabilities would be above 1")));
  }
}

void check_regions(const Profile& profile, const std::string& path) {
  std::vector<std::int64_t> sums(profile.layers.size());
  double weighted = 0;
  for (std::size_t i = 0; i < profile.regions.size(); ++i) {
    check_region(profile, i, path);
    sums[profile.regions[i].layer] += profile.regions[i].size;
    weighted += static_cast<double>(profile.regions[i].size) * profile.regions[i].density;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] != profile.layers[i].size) {
      refuse(path, "/regions",
             fmt::format("the regions of layer {} ('{}') add up to {} components; the layer has {}",
                         i, profile.layers[i].name, sums[i], profile.layers[i].size));
    }
  }
  const double mean = weighted / static_cast<double>(profile.components);
  if (std::abs(mean - 1) > kMeanTolerance) {
    refuse(path, "/regions",
           fmt::format("the densities' mean over components is {:.6g}, expected 1 within {}", mean,
                       kMeanTolerance));
  }
}

void check_provenance(const Profile& profile, const std::string& path) {
  const std::vector<std::string>& known = profile_entries();
  for (const auto& [entry, provenance] : profile.provenance) {
    const std::string pointer = "/provenance/" + escaped_key(entry);
    if (std::ranges::find(known, entry) == known.end()) {
      refuse(path, pointer,
             fmt::format("unknown key '{}'{}", excerpt(entry), did_you_mean(entry, known)));
    }
    if (std::ranges::find(kKinds, provenance.kind) == kKinds.end()) {
      refuse_value(path, pointer + "/kind", fmt::format("'{}'", provenance.kind),
                   fmt::format("{}", fmt::join(kKinds, " or ")));
    }
    if (provenance.from.empty()) {
      refuse_value(path, pointer + "/from", "''", "a trace, a paper's figure or a reason");
    }
  }
  for (const std::string& entry : known) {
    if (!profile.provenance.contains(entry)) {
      refuse(path, "/provenance", fmt::format("the key '{}' is missing", entry));
    }
  }
}

/// Checks all properties of a valid profile.
void check(const Profile& profile, const std::string& path) {
  if (profile.components < 1 || profile.components > kMostComponents) {
    refuse_value(path, "/components", fmt::format("{}", profile.components),
                 fmt::format("a whole number, at least 1, at most {}", kMostComponents));
  }
  if (!(profile.density > 0 && profile.density <= 1)) {
    refuse_value(path, "/density", fmt::format("{}", profile.density),
                 "a number above 0, at most 1");
  }
  check_numbers(profile, path);
  check_layers(profile, path);
  check_regions(profile, path);
  check_provenance(profile, path);
}

void read_numbers(const JsonNode& root, Profile& profile) {
  std::map<std::string_view, std::vector<std::string_view>> keys;
  for (const Number& number : kNumbers) keys[number.group].push_back(number.name);
  for (const auto& [group, names] : keys) root.at(std::string(group)).be_object(names);
  for (const Number& number : kNumbers) {
    const JsonNode node = root.at(std::string(number.group)).at(std::string(number.name));
    if (number.in != nullptr) number.in(profile) = node.number();
    if (number.in == nullptr) profile.popularity.block = node.whole();
  }
}

std::vector<Layer> read_layers(const JsonNode& node) {
  std::vector<Layer> layers;
  std::int64_t first = 0;
  for (const JsonNode& element : node.elements()) {
    element.be_object(std::array<std::string_view, 2>{"name", "size"});
    const std::int64_t size = element.at("size").whole();
    layers.push_back({element.at("name").text(), first, size});
    // Sums out of range are refused later; until then they must not overflow.
    first += std::clamp<std::int64_t>(size, 0, kMostComponents);
  }
  return layers;
}

std::vector<ProfileRegion> read_regions(const JsonNode& node) {
  std::vector<ProfileRegion> regions;
  for (const JsonNode& element : node.elements()) {
    element.be_object(std::array<std::string_view, 3>{"layer", "size", "density"});
    const std::int64_t layer = element.at("layer").whole();
    if (layer < 0) element.at("layer").wrong("the position of a layer, from 0");
    regions.push_back({static_cast<std::size_t>(layer), element.at("size").whole(),
                       element.at("density").number()});
  }
  return regions;
}

std::map<std::string, Provenance> read_provenance(const JsonNode& node) {
  const std::vector<std::string_view> known(profile_entries().begin(), profile_entries().end());
  node.be_object(known);
  std::map<std::string, Provenance> provenance;
  for (const auto& item : node.json().items()) {
    const JsonNode entry = node.at(item.key());
    entry.be_object(std::array<std::string_view, 2>{"kind", "from"});
    provenance[item.key()] = {entry.at("kind").text(), entry.at("from").text()};
  }
  return provenance;
}

}  // namespace

const std::vector<std::string>& profile_entries() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> entries{"layers", "regions"};
    for (const Number& number : kNumbers) {
      entries.push_back(fmt::format("{}.{}", number.group, number.name));
    }
    return entries;
  }();
  return all;
}

Json numbers_of(const Profile& profile) {
  Profile copy = profile;
  Json groups;
  for (const Number& number : kNumbers) {
    if (number.in == nullptr) continue;
    groups[std::string(number.group)][std::string(number.name)] = number.in(copy);
  }
  groups["popularity"]["block"] = profile.popularity.block;
  return groups;
}

Profile read_profile(const std::string& path) {
  const Json json = read_json(path);
  const JsonNode root(path, json);
  root.be_object(std::array<std::string_view, 13>{
      "format", "version", "name", "source", "components", "density", "options", "layers",
      "regions", "popularity", "magnitudes", "thresholds", "provenance"});
  if (root.at("format").text() != kProfileFormat) {
    root.at("format").wrong(fmt::format("\"{}\"", kProfileFormat));
  }
  if (root.at("version").whole() != kProfileVersion) {
    root.at("version").wrong(fmt::format("{}", kProfileVersion));
  }
  Profile profile;
  profile.name = root.at("name").text();
  profile.source = root.at("source").text();
  profile.components = root.at("components").whole();
  profile.density = root.at("density").number();
  profile.options = read_default_options(root);
  profile.layers = read_layers(root.at("layers"));
  profile.regions = read_regions(root.at("regions"));
  read_numbers(root, profile);
  profile.provenance = read_provenance(root.at("provenance"));
  check(profile, path);
  return profile;
}

void write_profile(const Profile& profile, const std::string& path) {
  check(profile, path);
  const Json numbers = numbers_of(profile);
  const auto lines = [](const std::vector<std::string>& items) {
    return fmt::format("\n    {}\n  ", fmt::join(items, ",\n    "));
  };
  std::vector<std::string> layers;
  for (const Layer& layer : profile.layers) {
    layers.push_back(dumped({{"name", layer.name}, {"size", layer.size}}));
  }
  std::vector<std::string> regions;
  for (const ProfileRegion& region : profile.regions) {
    regions.push_back(
        Json{{"layer", region.layer}, {"size", region.size}, {"density", region.density}}.dump());
  }
  std::vector<std::string> provenance;
  for (const std::string& entry : profile_entries()) {
    const Provenance& of = profile.provenance.at(entry);
    provenance.push_back(
        fmt::format("{}: {}", Json(entry).dump(), dumped({{"kind", of.kind}, {"from", of.from}})));
  }
  const std::string options =
      profile.options.values.empty()
          ? ""
          : fmt::format("  \"options\": {},\n", dumped({{"values", profile.options.values},
                                                        {"source", profile.options.source}}));
  const std::string text = fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"name\": {},\n  \"source\": {},\n"
      "  \"components\": {},\n  \"density\": {},\n{}  \"popularity\": {},\n  \"magnitudes\": {},\n"
      "  \"thresholds\": {},\n  \"provenance\": {{{}}},\n  \"layers\": [{}],\n"
      "  \"regions\": [{}]\n}}\n",
      kProfileFormat, kProfileVersion, dumped(profile.name), dumped(profile.source),
      profile.components, Json(profile.density).dump(), options, numbers.at("popularity").dump(),
      numbers.at("magnitudes").dump(), numbers.at("thresholds").dump(), lines(provenance),
      lines(layers), lines(regions));
  write_text(path, text);
}

}  // namespace thinwire::traces
