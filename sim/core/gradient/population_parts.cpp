// Populations as selections by buckets see them, and the blocks in which selections have entries.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/core/gradient/population.hpp"

namespace thinwire::inline gradient {

namespace {

/// At these levels nothing is selected, and everything.
constexpr double kNoneAtLevel = 0x1p-40;
constexpr double kAllAtLevel = 0x1p40;

}  // namespace

template <class Visit>
void Population::each_piece(std::uint32_t first, std::uint32_t last, Visit visit) const {
  std::uint32_t at = 0;
  for (const PopulationPiece& piece : settings_.pieces) {
    // The pieces of a cell follow one another in it.
    at = std::max(at, piece.cell * settings_.cell_width);
    const double coordinates = std::accumulate(piece.counts.begin(), piece.counts.end(), 0.0);
    const std::uint32_t end = at + static_cast<std::uint32_t>(std::llround(coordinates));
    const std::uint32_t from = std::max(at, first);
    const std::uint32_t to = std::min(end, last);
    at = end;
    if (from < to) visit(piece, from, to);
  }
}

std::vector<PopulationPiece> Population::finer_pieces(std::uint32_t first, std::uint32_t last,
                                                      std::uint32_t width) const {
  std::vector<PopulationPiece> finer;
  std::vector<std::uint8_t> classes;
  each_piece(first, last, [&](const PopulationPiece& piece, std::uint32_t from, std::uint32_t to) {
    classes.resize(to - from);
    settings_.draw_classes(from, classes);
    for (std::uint32_t i = 0; i < classes.size(); ++i) {
      const std::uint32_t cell = (from + i) / width;
      if (finer.empty() || finer.back().cell != cell || finer.back().region != piece.region) {
        finer.push_back({cell, piece.region, std::vector<float>(piece.counts.size())});
      }
      ++finer.back().counts[classes[i]];
    }
  });
  return finer;
}

std::uint32_t Population::cell_in_buckets(std::int64_t width) const {
  constexpr std::uint32_t kMostCells = 1U << 19U;
  const std::uint32_t cell = settings_.cell_width;
  if (!settings_.draw_classes) return cell;
  const std::uint32_t narrowest = settings_.coordinates / kMostCells + 1;
  for (auto parts = (width + cell - 1) / cell; parts <= width; ++parts) {
    if (width / parts < narrowest) return std::min(cell, narrowest);
    if (width % parts == 0) return static_cast<std::uint32_t>(width / parts);
  }
  return cell;
}

// Within a bucket the most popular coordinates are selected, as they are in the whole space: at a
// level of its own, with which all rates are multiplied. Levels are rounded, so that regions are few.
Population::InBuckets Population::made_in_buckets(std::uint32_t first, std::uint32_t last,
                                                  const Buckets& buckets) const {
  const std::uint32_t cell = cell_in_buckets(buckets.width);
  std::vector<PopulationPiece> pieces =
      cell < settings_.cell_width ? finer_pieces(first, last, cell) : settings_.pieces;
  const bool told_apart = cell <= buckets.width;
  const auto bucket_of = [&](const PopulationPiece& piece) {
    const std::int64_t middle = std::int64_t{piece.cell} * cell + cell / 2;
    return told_apart ? std::max<std::int64_t>(0, middle - first) / buckets.width : piece.cell;
  };
  const auto wanted_in = [&](std::int64_t bucket, double coordinates) {
    if (!told_apart) {
      return coordinates * static_cast<double>(buckets.k) / static_cast<double>(buckets.end);
    }
    const std::int64_t begin = std::min(buckets.end, bucket * buckets.width);
    const std::int64_t end = std::min(buckets.end, begin + buckets.width);
    return static_cast<double>(buckets.share_before(end) - buckets.share_before(begin));
  };
  Settings derived{.coordinates = settings_.coordinates,
                   .cell_width = cell,
                   .pieces = {},
                   .rates = {},
                   .magnitudes = settings_.magnitudes,
                   .draw_classes = settings_.draw_classes,
                   .buckets = {},
                   .buckets_begin = first};
  if (told_apart) derived.buckets = buckets;
  std::map<std::pair<std::uint32_t, long>, std::uint32_t> regions;  // by region and level
  double wanted = 0;
  double found = 0;
  auto begin = std::ranges::lower_bound(pieces, first / cell, {}, &PopulationPiece::cell);
  const auto end =
      std::ranges::lower_bound(pieces, (last + cell - 1) / cell, {}, &PopulationPiece::cell);
  while (begin != end) {
    const std::int64_t number = bucket_of(*begin);
    const auto next =
        std::find_if(begin, end, [&](const auto& piece) { return bucket_of(piece) != number; });
    const std::span<PopulationPiece> bucket(begin, next);
    double coordinates = 0;
    for (const PopulationPiece& piece : bucket) {
      coordinates += std::accumulate(piece.counts.begin(), piece.counts.end(), 0.0);
    }
    const double wanted_here = wanted_in(number, coordinates);
    const LevelOfShare level = level_of_share(bucket, wanted_here);
    wanted += wanted_here;
    found += level.entries;
    constexpr double kStep = 0.02;
    const long rounded = std::lround(std::log(level.level) / kStep);
    for (PopulationPiece& piece : bucket) {
      const auto [region, added] = regions.try_emplace(
          {piece.region, rounded}, static_cast<std::uint32_t>(derived.rates.size()));
      if (added) {
        derived.rates.push_back(settings_.rates[piece.region]);
        for (double& rate : derived.rates.back()) {
          rate *= std::exp(kStep * static_cast<double>(rounded));
        }
      }
      piece.region = region->second;
      derived.pieces.push_back(std::move(piece));
    }
    begin = next;
  }
  return {.population = make_ref<const Population>(std::move(derived)),
          .filled = wanted > 0 ? found / wanted : 0};
}

// A population of its own, since no level of this one thins all coordinates alike: the probability
// p of a coordinate becomes share * p, also where p is nearly 1.
Ref<const Population> Population::thinned(double level, double share) const {
  constexpr double kSteps = 32;  // an octave
  const std::pair key{std::lround(std::log2(level) * kSteps),
                      std::lround(std::log2(share) * kSteps)};
  auto kept = thinned_.find(key);
  if (kept == thinned_.end()) {
    const double at = std::exp2(static_cast<double>(key.first) / kSteps);
    const double part = std::min(1.0, std::exp2(static_cast<double>(key.second) / kSteps));
    Settings derived = settings_;
    derived.magnitudes.unit *= ratio_of_level(at);
    for (std::vector<double>& rates : derived.rates) {
      for (double& rate : rates) {
        rate = part < 1 ? -std::log1p(part * std::expm1(-rate * at)) : rate * at;
      }
    }
    kept = thinned_.emplace(key, make_ref<const Population>(std::move(derived))).first;
  }
  return kept->second;
}

const Population::InBuckets& Population::in_buckets(std::uint32_t first, std::uint32_t last,
                                                    const Buckets& buckets) const {
  const std::array key{std::int64_t{first}, std::int64_t{last}, buckets.width, buckets.end,
                       buckets.k};
  auto kept = in_buckets_.find(key);
  if (kept == in_buckets_.end()) {
    kept = in_buckets_.emplace(key, made_in_buckets(first, last, buckets)).first;
  }
  return kept->second;
}

Population::BlockRates Population::block_rates(std::uint32_t first, const BlockSize& size) const {
  BlockRates of{.first = first, .size = size};
  of.rates.assign(size.count(), 0);
  of.expected.assign(size.count(), 0);
  std::vector<std::uint8_t> classes;
  std::vector<float> selected(settings_.buckets ? size.coordinates : 0);  // by coordinate
  const auto add = [&](const PopulationPiece& piece, std::uint32_t from, std::uint32_t to) {
    const std::vector<double>& rates = settings_.rates[piece.region];
    const double all = std::accumulate(piece.counts.begin(), piece.counts.end(), 0.0);
    std::vector<double> probabilities;
    double even_rate = 0;
    double even_probability = 0;
    for (std::size_t c = 0; c < rates.size(); ++c) {
      probabilities.push_back(-std::expm1(-rates[c]));
      const double share = static_cast<double>(piece.counts[c]) / all;
      even_rate += share * rates[c];
      even_probability += share * probabilities[c];
    }
    if (settings_.draw_classes) {
      classes.resize(to - from);
      settings_.draw_classes(from, classes);
    }
    for (std::uint32_t coordinate = from; coordinate < to; ++coordinate) {
      const std::uint32_t block = (coordinate - first) / size.width;
      const bool even = classes.empty();
      const std::size_t c = even ? 0 : classes[coordinate - from];
      const double probability = even ? even_probability : probabilities[c];
      of.rates[block] += static_cast<float>(even ? even_rate : rates[c]);
      of.expected[block] += static_cast<float>(probability);
      if (!selected.empty()) selected[coordinate - first] = static_cast<float>(probability);
    }
  };
  each_piece(first, first + size.coordinates, add);
  if (settings_.buckets) of.rates = rates_of_shares(first, size, selected);
  return of;
}

// Each entry of a bucket is outside a block with the same probability.
std::vector<float> Population::rates_of_shares(std::uint32_t first, const BlockSize& size,
                                               std::span<const float> selected) const {
  constexpr double kSurely = 50;
  const Buckets& buckets = *settings_.buckets;
  const std::int64_t offset = std::int64_t{settings_.buckets_begin} - first;
  std::vector<float> rates(size.count(), 0);
  for (std::int64_t begin = 0; begin < buckets.end; begin += buckets.width) {
    const std::int64_t end = std::min(buckets.end, begin + buckets.width);
    const std::int64_t share = buckets.share_before(end) - buckets.share_before(begin);
    const std::int64_t from = std::max<std::int64_t>(0, begin + offset);
    const std::int64_t to = std::min<std::int64_t>(size.coordinates, end + offset);
    if (share == 0 || from >= to) continue;
    const auto sum = [&](std::int64_t a, std::int64_t b) {
      return std::accumulate(selected.begin() + a, selected.begin() + b, 0.0);
    };
    const double all = sum(from, to);
    for (std::int64_t at = from; at < to && all > 0;) {
      const std::int64_t block = at / size.width;
      const std::int64_t until = std::min(to, (block + 1) * size.width);
      const double outside = 1 - sum(at, until) / all;
      const double rate = outside > 0 ? -static_cast<double>(share) * std::log(outside) : kSurely;
      rates[static_cast<std::size_t>(block)] += static_cast<float>(std::min(rate, kSurely));
      at = until;
    }
  }
  return rates;
}

BlockChances Population::chances(std::uint32_t first, const BlockSize& size, double level) const {
  if (!block_rates_ || block_rates_->first != first || !(block_rates_->size == size)) {
    block_rates_ = block_rates(first, size);
  }
  BlockRates& of = *block_rates_;
  const double near = counts(level).level;
  if (of.level != near) {
    of.level = near;
    of.nonzero.resize(of.rates.size());
    of.shares.resize(of.rates.size());
    const double all = std::accumulate(of.expected.begin(), of.expected.end(), 0.0);
    for (std::size_t block = 0; block < of.rates.size(); ++block) {
      const double nonzero = -std::expm1(-static_cast<double>(of.rates[block]) * near);
      of.nonzero[block] = static_cast<float>(nonzero);
      of.shares[block] =
          nonzero > 0 ? static_cast<float>(static_cast<double>(of.expected[block]) / nonzero / all)
                      : 0;
    }
  }
  return {of.nonzero, of.shares};
}

BlockChances::BlockChances(const BlockSize& size, double density)
    : even_nonzero_(density < 1 ? -std::expm1(size.width * std::log1p(-density)) : 1),
      even_share_(1 / (even_nonzero_ * size.count())) {}

// The entries are concave in the level, so Newton's method approaches the level from below.
Population::LevelOfShare Population::level_of_share(std::span<const PopulationPiece> pieces,
                                                    double entries) const {
  std::vector<std::pair<double, double>> classes;  // coordinates, and their rate
  double present = 0;
  for (const PopulationPiece& piece : pieces) {
    for (std::size_t c = 0; c < piece.counts.size(); ++c) {
      const double rate = settings_.rates[piece.region][c];
      if (piece.counts[c] <= 0 || rate <= 0) continue;
      classes.emplace_back(piece.counts[c], rate);
      present += static_cast<double>(piece.counts[c]);
    }
  }
  if (entries <= 0) return {.level = kNoneAtLevel, .entries = 0};
  if (entries >= (1 - 1e-6) * present) return {.level = kAllAtLevel, .entries = present};
  double level = 0;
  for (int step = 0; step < 100; ++step) {
    double there = 0;
    double slope = 0;
    for (const auto& [count, rate] : classes) {
      const double left_out = std::exp(-rate * level);
      there += count * (1 - left_out);
      slope += count * rate * left_out;
    }
    const double change = (entries - there) / slope;
    level += change;
    if (change <= 1e-6 * level) break;
  }
  return {.level = std::min(level, kAllAtLevel), .entries = entries};
}

}  // namespace thinwire::inline gradient
