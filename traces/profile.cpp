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

/// The entries that have a provenance.
constexpr std::array<std::string_view, 19> kEntries{"layers",
                                                    "regions",
                                                    "popularity.rho",
                                                    "popularity.beta_a",
                                                    "popularity.never",
                                                    "popularity.block",
                                                    "popularity.clustering",
                                                    "popularity.bursts",
                                                    "magnitudes.shape",
                                                    "magnitudes.scale",
                                                    "magnitudes.below",
                                                    "magnitudes.rms",
                                                    "magnitudes.mean",
                                                    "thresholds.ranks",
                                                    "thresholds.noise",
                                                    "thresholds.walk",
                                                    "thresholds.memory",
                                                    "thresholds.start",
                                                    "thresholds.filling"};
constexpr std::array<std::string_view, 3> kKinds{"fitted", "calibrated", "assumed"};

/// A number of the profile with its name and range, which reading, writing and checking share.
struct Field {
  std::string_view name;
  double* value;
  double low;
  double high;
  bool above_low = false;  ///< low itself is excluded
  bool below_high = false;
};

constexpr double kAny = std::numeric_limits<double>::max();

std::vector<Field> popularity_fields(Popularity& p) {
  return {{"rho", &p.rho, 0, 1, false, true},
          {"beta_a", &p.beta_a, 0, kAny, true},
          {"never", &p.never, 0, 1, false, true},
          {"clustering", &p.clustering, 0, 1},
          {"bursts", &p.bursts, 0, kAny}};
}

std::vector<Field> magnitude_fields(Magnitudes& m) {
  return {{"shape", &m.shape, 0, kAny, true},
          {"scale", &m.scale, 0, kAny, true},
          {"below", &m.below, 0, kAny, true},
          {"rms", &m.rms, 0, kAny, true},
          {"mean", &m.mean, 0, kAny, true}};
}

std::vector<Field> threshold_fields(ThresholdDrift& t) {
  return {{"ranks", &t.ranks, 0, kAny},       {"noise", &t.noise, 0, kAny},
          {"walk", &t.walk, 0, kAny},         {"memory", &t.memory, 0, kAny, true},
          {"start", &t.start, 0, kAny, true}, {"filling", &t.filling, 0, kAny, true}};
}

std::string range_text(const Field& field) {
  std::string text = field.above_low ? fmt::format("a number above {}", field.low)
                                     : fmt::format("a number, at least {}", field.low);
  if (field.high < kAny) {
    text += fmt::format("{} {}", field.below_high ? ", below" : ", at most", field.high);
  }
  return text;
}

void check_fields(const std::string& path, const std::string& group,
                  const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    const double value = *field.value;
    const bool inside = std::isfinite(value) &&
                        (field.above_low ? value > field.low : value >= field.low) &&
                        (field.below_high ? value < field.high : value <= field.high);
    if (!inside) {
      refuse_value(path, fmt::format("/{}/{}", group, field.name), fmt::format("{}", value),
                   range_text(field));
    }
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
             fmt::format("those of layer {} ('{}') add up to {} components, expected its {}", i,
                         profile.layers[i].name, sums[i], profile.layers[i].size));
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
  const std::vector<std::string> known(kEntries.begin(), kEntries.end());
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
  Profile copy;  // fields point to members that can be written
  copy.popularity = profile.popularity;
  copy.magnitudes = profile.magnitudes;
  copy.thresholds = profile.thresholds;
  check_fields(path, "popularity", popularity_fields(copy.popularity));
  if (profile.popularity.block < 1 || profile.popularity.block > kMostComponents) {
    refuse_value(path, "/popularity/block", fmt::format("{}", profile.popularity.block),
                 fmt::format("a whole number, at least 1, at most {}", kMostComponents));
  }
  check_fields(path, "magnitudes", magnitude_fields(copy.magnitudes));
  if (profile.magnitudes.mean > profile.magnitudes.rms) {
    refuse_value(path, "/magnitudes/mean", fmt::format("{}", profile.magnitudes.mean),
                 fmt::format("at most rms, {}: no mean is above the root of its mean square",
                             profile.magnitudes.rms));
  }
  check_fields(path, "thresholds", threshold_fields(copy.thresholds));
  check_layers(profile, path);
  check_regions(profile, path);
  check_provenance(profile, path);
}

void read_fields(const JsonNode& node, const std::vector<Field>& fields,
                 std::optional<std::string_view> other = std::nullopt) {
  std::vector<std::string_view> keys;
  for (const Field& field : fields) keys.push_back(field.name);
  if (other) keys.push_back(*other);
  node.be_object(keys);
  for (const Field& field : fields) *field.value = node.at(std::string(field.name)).number();
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
  node.be_object(kEntries);
  std::map<std::string, Provenance> provenance;
  for (const auto& item : node.json().items()) {
    const JsonNode entry = node.at(item.key());
    entry.be_object(std::array<std::string_view, 2>{"kind", "from"});
    provenance[item.key()] = {entry.at("kind").text(), entry.at("from").text()};
  }
  return provenance;
}

}  // namespace

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
  read_fields(root.at("popularity"), popularity_fields(profile.popularity), "block");
  profile.popularity.block = root.at("popularity").at("block").whole();
  read_fields(root.at("magnitudes"), magnitude_fields(profile.magnitudes));
  read_fields(root.at("thresholds"), threshold_fields(profile.thresholds));
  profile.provenance = read_provenance(root.at("provenance"));
  check(profile, path);
  return profile;
}

void write_profile(const Profile& profile, const std::string& path) {
  check(profile, path);
  const auto group = [](const std::vector<Field>& fields) {
    Json object = Json::object();
    for (const Field& field : fields) object[std::string(field.name)] = *field.value;
    return object;
  };
  Profile copy;
  copy.popularity = profile.popularity;
  copy.magnitudes = profile.magnitudes;
  copy.thresholds = profile.thresholds;
  Json popularity = group(popularity_fields(copy.popularity));
  popularity["block"] = profile.popularity.block;

  // One layer, region or entry per line: nlohmann's indentation would use a line per number.
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
  for (const std::string_view entry : kEntries) {
    const Provenance& of = profile.provenance.at(std::string(entry));
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
      profile.components, Json(profile.density).dump(), options, popularity.dump(),
      group(magnitude_fields(copy.magnitudes)).dump(),
      group(threshold_fields(copy.thresholds)).dump(), lines(provenance), lines(layers),
      lines(regions));
  write_text(path, text);
}

}  // namespace thinwire::traces
