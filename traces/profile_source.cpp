#include "traces/profile_source.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"

namespace thinwire::traces {

namespace {

enum class ProfileDraw : std::uint8_t { landscape = 16, walk, entries };

constexpr double kEveryLevel = 0x1p40;
constexpr std::uint32_t kAtOnce = 1U << 14U;

}  // namespace

ProfileSource::ProfileSource(const Profile& profile, const ProfileSettings& settings)
    : settings_(settings),
      landscape_(profile, settings.family, settings.space, settings.k,
                 random_bits(settings.seed, ProfileDraw::landscape)),
      population_(landscape_.population()),
      walk_(profile.thresholds, settings.start_up, random_bits(settings.seed, ProfileDraw::walk)) {
  // In a small space with few blocks the drawn popularity may be off k by a tenth: rescale.
  const std::int64_t carried = settings.k / settings.space.granule;
  const auto wanted = static_cast<double>(carried);
  if (wanted <= 0 || wanted > 0.5 * population_->present()) return;
  landscape_.scale(population_->level_of(wanted));
  population_ = landscape_.population();
}

float ProfileSource::threshold(Rank rank, int iteration) const {
  return walk_.threshold(rank.value(), iteration);
}

std::uint64_t ProfileSource::key(Rank rank, int iteration) const {
  return random_bits(settings_.seed, ProfileDraw::entries, rank.value(), iteration);
}

ExactProfileSource::ExactProfileSource(const Profile& profile, const ProfileSettings& settings)
    : ProfileSource(profile, settings) {
  const auto wanted = settings.reach * static_cast<double>(settings.k) /
                      static_cast<double>(settings.space.granule);
  level_ = settings.reach == 0 ? kEveryLevel : population()->level_of(wanted);

  for (std::size_t region = 0; region + 1 < regions().size(); ++region) {
    std::vector<Alike> alike(landscape().classes());
    for (std::size_t c = 0; c < alike.size(); ++c) alike[c].rate = landscape().rates()[region][c];
    const std::uint32_t end = regions()[region + 1];
    std::vector<std::uint8_t> classes;
    for (std::uint32_t first = regions()[region]; first < end;
         first += static_cast<std::uint32_t>(classes.size())) {
      classes.resize(std::min(kAtOnce, end - first));
      landscape().draw_classes(first, classes);
      for (std::uint32_t i = 0; i < classes.size(); ++i) {
        Alike& one = alike[classes[i]];
        if (one.rate > 0) one.coordinates.push_back(first + i);
      }
    }
    for (Alike& one : alike) {
      if (!one.coordinates.empty()) classes_.push_back(std::move(one));
    }
  }
}

SparseVector ExactProfileSource::drawn(Rank rank, int iteration, double level) const {
  const std::uint64_t key = this->key(rank, iteration);
  const float scale = threshold(rank, iteration);
  std::vector<Entry> entries;
  std::uint64_t draws = 0;
  const auto draw = [&] { return mix(key + ++draws * 0x9e3779b97f4a7c15U); };
  for (const Alike& alike : classes_) {
    // Geometric gaps lead from one drawn coordinate to the next.
    const double none = -alike.rate * level;  // ln of the probability of no draw
    const double probability = -std::expm1(none);
    std::size_t i = 0;
    while (true) {
      if (probability < 1) {
        const double gap = std::floor(std::log(to_unit(draw())) / none);
        if (gap >= static_cast<double>(alike.coordinates.size() - i)) break;
        i += static_cast<std::size_t>(gap);
      }
      if (i >= alike.coordinates.size()) break;
      const std::uint64_t bits = draw();
      const double own = -std::log1p(-to_unit(bits) * probability) / alike.rate;
      const auto magnitude = static_cast<float>(population()->ratio_of_level(own));
      const bool negative = (bits & 1U) != 0;
      entries.push_back({alike.coordinates[i], scale * (negative ? -magnitude : magnitude)});
      ++i;
    }
  }
  std::ranges::sort(entries, {}, &Entry::coordinate);
  return SparseVector::trusted(std::move(entries));
}

SparseVector ExactProfileSource::sparse(Rank rank, int iteration) const {
  return drawn(rank, iteration, level_);
}

DenseBlock ExactProfileSource::dense(Rank rank, int iteration) const {
  const auto end = static_cast<std::uint32_t>(settings().space.coordinates());
  return to_dense(drawn(rank, iteration, kEveryLevel), 0, end);
}

StatisticalProfileSource::StatisticalProfileSource(const Profile& profile,
                                                   const ProfileSettings& settings)
    : ProfileSource(profile, settings) {}

SparseVector StatisticalProfileSource::accumulator(Rank rank, int iteration, double factor) const {
  const double scale = factor * static_cast<double>(threshold(rank, iteration));
  return SparseVector::from(
      statistical_accumulator(population(), static_cast<float>(scale), key(rank, iteration)));
}

SparseVector StatisticalProfileSource::sparse(Rank rank, int iteration) const {
  return accumulator(rank, iteration, 1);
}

DenseBlock StatisticalProfileSource::dense(Rank /*rank*/, int /*iteration*/) const {
  return DenseBlock::valueless(0, static_cast<std::uint32_t>(settings().space.coordinates()));
}

}  // namespace thinwire::traces
