#include "traces/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "traces/powers.hpp"

namespace thinwire::traces {

namespace {

// The purpose of a draw, which keeps the sequences apart.
enum class SyntheticDraw : std::uint8_t { place, epoch, magnitude, scale, rest };

void require_share(double value, const char* name) {
  if (!(value >= 0 && value <= 1)) {
    throw InputError("input.{} is {}, but it must lie in [0, 1]", name, value);
  }
}

void require_finite(double value, const char* name) {
  if (!(value >= 0) || !std::isfinite(value)) {
    throw InputError("input.{} is {}, but it must be finite and at least 0", name, value);
  }
}

/// The number of marked elements among the first `index` when `share` of all are marked, evenly.
std::int64_t marked_before(std::int64_t index, double share) {
  return static_cast<std::int64_t>(std::floor(static_cast<double>(index) * share + 1e-9));
}

/// Most are of 32 bits, which processors divide sooner.
std::uint64_t quotient(std::uint64_t number, std::uint32_t by) {
  if (number > std::numeric_limits<std::uint32_t>::max()) return number / by;
  return static_cast<std::uint32_t>(number) / by;
}

bool marked(std::int64_t index, double share) {
  return marked_before(index + 1, share) > marked_before(index, share);
}

}  // namespace

SyntheticSource::SyntheticSource(const SyntheticSettings& settings) : settings_(settings) {
  require_share(settings.overlap, "overlap");
  require_share(settings.drift, "drift");
  require_finite(settings.skew, "skew");
  require_finite(settings.tail, "tail");
  require_finite(settings.scale_drift, "scale_drift");
  // A last coordinate with fewer components than the others is never selected, unless everything is
  // (then k is n, and the granule is 1).
  const std::int64_t places = settings.space.components / settings.space.granule;
  const std::int64_t hot = settings.k / settings.space.granule;
  if (settings.k < 0 || hot > places) {
    throw InputError("k = {} of n = {} components cannot be selected with granule {}", settings.k,
                     settings.space.components, settings.space.granule);
  }
  const std::int64_t count = std::min(places, hot + hot / 4);
  if (count == 0) return;

  // Each stratum has at least one coordinate, and room for all ranks if possible.
  const std::int64_t least = places / count >= settings.ranks ? settings.ranks : 1;
  const double hot_share = static_cast<double>(hot) / static_cast<double>(count);
  strata_.reserve(static_cast<std::size_t>(count));
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double end_share =
        std::pow(static_cast<double>(i + 1) / static_cast<double>(count), 1 + settings.skew);
    const auto wanted =
        static_cast<std::int64_t>(std::floor(end_share * static_cast<double>(places)));
    const std::int64_t end = std::clamp(wanted, begin + least, places - (count - 1 - i) * least);
    const bool is_hot = marked(i, hot_share);
    const bool is_common = is_hot && marked(marked_before(i, hot_share), settings.overlap);
    strata_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin),
                       is_hot, is_common});
    begin = end;
  }
}

const std::vector<std::uint32_t>& SyntheticSource::turns(int iteration) const {
  if (turns_of_ == iteration) return turns_;
  turns_.resize(strata_.size());
  turns_of_ = iteration;
  for (std::size_t i = 0; i < strata_.size(); ++i) {
    // A stratum is drawn anew when its epoch changes: each iteration this affects a share `drift`
    // of the strata, each with its own phase.
    const double phase = to_unit(random_bits(settings_.seed, SyntheticDraw::epoch, i));
    const auto epoch = static_cast<std::uint64_t>(std::floor(settings_.drift * iteration + phase));
    const std::uint64_t turn = random_bits(settings_.seed, SyntheticDraw::place, i, epoch);
    const auto modulus =
        strata_[i].common ? strata_[i].width : static_cast<std::uint32_t>(settings_.ranks);
    turns_[i] = static_cast<std::uint32_t>(turn % modulus);
  }
  return turns_;
}

SparseVector SyntheticSource::sparse(Rank rank, int iteration) const {
  const std::uint64_t seed = settings_.seed;
  const double normal = normal_draw(random_bits(seed, SyntheticDraw::scale, iteration, 0),
                                    random_bits(seed, SyntheticDraw::scale, iteration, 1));
  const auto scale = static_cast<float>(std::exp(settings_.scale_drift * normal));
  const auto exponent = static_cast<float>(-settings_.tail);
  const std::uint64_t key = random_bits(seed, SyntheticDraw::magnitude, rank.value(), iteration);
  const auto ranks = static_cast<std::uint32_t>(settings_.ranks);
  const auto own = static_cast<std::uint32_t>(rank.value());

  const std::vector<std::uint32_t>& turn = turns(iteration);
  std::vector<Entry> entries(strata_.size());
  std::array<std::uint64_t, 512> bits{};  // few at a time, so that they stay in the cache
  std::array<float, bits.size()> units{};
  std::array<float, bits.size()> powers{};
  for (std::size_t begin = 0; begin < entries.size(); begin += bits.size()) {
    const std::size_t count = std::min(bits.size(), entries.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      // In (0, 1), and far enough from 1 that a hot magnitude exceeds 1.
      bits[i] = mix(key + begin + i);
      units[i] = static_cast<float>((static_cast<double>(bits[i] >> 41U) + 0.5) * 0x1p-23);
    }
    powers = units;
    raise_each(std::span(powers).first(count), exponent);
    for (std::size_t i = 0; i < count; ++i) {
      const Stratum& stratum = strata_[begin + i];
      const std::uint32_t of_stratum = turn[begin + i];
      const std::uint32_t shifted = own + of_stratum;
      const std::uint64_t place = shifted < ranks ? shifted : shifted - ranks;
      const std::uint64_t offset =
          stratum.common ? of_stratum : quotient(place * stratum.width, ranks);
      const float magnitude = stratum.hot ? 1.000001F * powers[i] : 0.5F + 0.5F * units[i];
      const bool negative = (bits[i] & 1U) != 0;
      entries[begin + i] = {stratum.first + static_cast<std::uint32_t>(offset),
                            scale * (negative ? -magnitude : magnitude)};
    }
  }
  return SparseVector::trusted(std::move(entries));
}

DenseBlock SyntheticSource::dense(Rank rank, int iteration) const {
  std::vector<float> values(static_cast<std::size_t>(settings_.space.coordinates()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits =
        random_bits(settings_.seed, SyntheticDraw::rest, rank.value(), iteration, i);
    values[i] = static_cast<float>(0.5 * (to_unit(bits) - 0.5));
  }
  const SparseVector large = sparse(rank, iteration);
  for (const Entry& entry : large.entries()) values[entry.coordinate] = entry.value;
  return {0, std::move(values)};
}

}  // namespace thinwire::traces
