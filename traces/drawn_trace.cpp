#include "traces/drawn_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/memory.hpp"
#include "sim/core/base/random.hpp"
#include "traces/profile_source.hpp"
#include "traces/statistics.hpp"
#include "traces/trace.hpp"

namespace thinwire::traces {

namespace {

constexpr std::uint64_t kBursts = 0x6275727374;  // separates these draws from the source's draws

/// The layers scaled to another n; layers that vanish are dropped.
std::vector<Layer> stretched(const Profile& profile, std::int64_t components) {
  const double factor = static_cast<double>(components) / static_cast<double>(profile.components);
  std::vector<Layer> layers;
  for (const Layer& layer : profile.layers) {
    const auto first = std::llround(static_cast<double>(layer.first) * factor);
    const auto end = std::llround(static_cast<double>(layer.first + layer.size) * factor);
    if (end > first) layers.push_back({layer.name, first, end - first});
  }
  return layers;
}

/// An iteration at which the start-up is over.
int settled_iteration(const Profile& profile) {
  return 1 + static_cast<int>(std::ceil(
                 std::min(1e6, std::max(8 * profile.thresholds.filling, 1 / profile.density))));
}

/// An entry of an accumulator with -ln of the share of k that reaches its magnitude. In these terms
/// magnitudes above any threshold have one distribution, whatever constant is added.
struct Rarity {
  double value = 0;
  Entry entry;
};

std::vector<Rarity> rarities(const SparseVector& accumulator, const Magnitudes& law,
                             float threshold) {
  std::vector<Rarity> found;
  found.reserve(accumulator.size());
  for (const Entry& entry : accumulator.entries()) {
    const double x = std::log(std::abs(static_cast<double>(entry.value)) / threshold);
    found.push_back({x > 0 ? std::pow(x / law.scale, law.shape) : x * law.below, entry});
  }
  return found;
}

/// Applies a burst to each region, as if its density had changed.
void burst(std::vector<Rarity>& entries, const std::vector<std::uint32_t>& regions, double bursts,
           std::uint64_t key) {
  std::size_t region = 0;
  double favour = 0;  // ln of the factor of the density
  std::uint32_t end = 0;
  for (Rarity& one : entries) {
    if (one.entry.coordinate >= end) {
      while (one.entry.coordinate >= regions[region + 1]) ++region;
      end = regions[region + 1];
      favour = bursts * normal_draw(random_bits(key, region)) - bursts * bursts / 2;
    }
    one.value += favour;
  }
}

/// The k largest, shifted so that the smallest of them is the threshold: an exact top-k.
SparseVector largest(std::vector<Rarity> entries, std::int64_t k, const Magnitudes& law,
                     float threshold) {
  const auto larger = [](const Rarity& a, const Rarity& b) {
    return a.value != b.value ? a.value > b.value : a.entry.coordinate < b.entry.coordinate;
  };
  const auto count = std::min(static_cast<std::size_t>(k), entries.size());
  if (count == 0) return {};
  const auto last = entries.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(entries, last, larger);
  const double least = last->value;
  std::vector<Entry> selected;
  selected.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double over = law.scale * std::pow(entries[i].value - least, 1 / law.shape);
    const float magnitude =
        std::max(threshold, static_cast<float>(std::exp(std::min(over, 60.0)) * threshold));
    selected.push_back(
        {entries[i].entry.coordinate, std::copysign(magnitude, entries[i].entry.value)});
  }
  std::ranges::sort(selected, {}, &Entry::coordinate);
  return SparseVector::trusted(std::move(selected));
}

void check(const DrawnTraceSettings& settings) {
  const auto wrong = [](const char* name, const auto& value, const std::string& wanted) {
    throw InputError("{}: {} is not valid; expected {}", name, value, wanted);
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (settings.components < 1 || settings.components > kMost) {
    wrong("components", settings.components,
          fmt::format("a whole number, at least 1, at most {}", kMost));
  }
  if (settings.ranks < 1) wrong("ranks", settings.ranks, "a whole number, at least 1");
  if (!(settings.density > 0 && settings.density <= 1)) {
    wrong("density", settings.density, "a number above 0, at most 1");
  }
  if (settings.iterations < 1) {
    wrong("iterations", settings.iterations, "a whole number, at least 1");
  }
}

/// The bytes that drawing takes at least: the coordinates by class, an accumulator and its rarities
/// at a time, the selections of an iteration, and the sum of these.
double least_memory(const DrawnTraceSettings& settings, std::int64_t k, double reach) {
  const auto n = static_cast<double>(settings.components);
  const auto selected = static_cast<double>(k);
  const double drawn = reach > 0 ? std::min(n, reach * selected) : n;
  const double all = selected * settings.ranks;
  return n * sizeof(std::uint32_t) + drawn * (sizeof(Entry) + sizeof(Rarity)) +
         (all + std::min(n, all)) * sizeof(Entry);
}

}  // namespace

void write_drawn_trace(const Profile& profile, const DrawnTraceSettings& settings,
                       const std::string& path) {
  check(settings);
  const TraceHeader header{
      .components = settings.components,
      .ranks = settings.ranks,
      .density = settings.density,
      .seed = settings.seed,
      .source = fmt::format("drawn from the profile {}, {} family: {}", profile.name,
                            settings.family == PopularityFamily::copula ? "copula" : "Beta",
                            profile.source),
      .residual_rule = ResidualRule::all,
      .layers = stretched(profile, settings.components)};
  const double bursts = profile.popularity.bursts;
  // Entries that a burst may lift above the threshold must have been drawn; 0 draws everything.
  const double least_reach = 2 * std::exp(3 * bursts);
  const double reach = least_reach * settings.density < 0.5 ? least_reach : 0;
  require_memory(least_memory(settings, header.k(), reach),
                 fmt::format("{} components on {} ranks", settings.components, settings.ranks),
                 "draw fewer components or ranks, or a lower density");
  const ExactProfileSource source(profile, {.family = settings.family,
                                            .space = {.components = settings.components},
                                            .k = header.k(),
                                            .seed = settings.seed,
                                            .start_up = settings.start_up,
                                            .reach = reach});
  const int first = settings.start_up ? 1 : settled_iteration(profile);
  TraceWriter writer(path, header);
  for (int iteration = first; iteration < first + settings.iterations; ++iteration) {
    TraceWindow window;
    window.iteration = iteration;
    for (int rank = 0; rank < settings.ranks; ++rank) {
      const float threshold = source.threshold(Rank(rank), iteration);
      std::vector<Rarity> entries =
          rarities(source.sparse(Rank(rank), iteration), profile.magnitudes, threshold);
      if (bursts > 0) {
        burst(entries, source.regions(), bursts,
              random_bits(settings.seed, kBursts, rank, iteration));
      }
      window.thresholds.push_back(threshold);
      window.selected.push_back(
          largest(std::move(entries), header.k(), profile.magnitudes, threshold));
    }
    const SparseVector kept = global_top_k(window, header.k());
    float least = std::numeric_limits<float>::max();
    for (const Entry& entry : kept.entries()) least = std::min(least, std::abs(entry.value));
    window.global_threshold = kept.size() > 0 ? least : 0;
    writer.append(window);
  }
  writer.finish();
}

}  // namespace thinwire::traces
