#include "sim/core/gradient/statistical.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/cut_plan.hpp"
#include "sim/core/gradient/halving.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/gradient/statistical_payload.hpp"

namespace thinwire::inline gradient {

namespace {

using Kind = Statistics::Kind;

/// Converts to fixed point; clamped so that 65536 values can be added.
std::int64_t fixed(double value) {
  return std::llround(std::clamp(value, -0x1p22, 0x1p22) / Statistics::kUnit);
}

/// Draws how many of `size` entries, which fill so much of their room, are in each of `parts` parts
/// that are as large as one another.
std::vector<std::uint32_t> drawn_sizes(std::uint32_t size, int parts, double filled,
                                       std::uint64_t key) {
  std::vector<std::uint32_t> sizes(static_cast<std::size_t>(parts));
  const auto walk = [&](const auto& self, int begin, int end, std::uint32_t left_over,
                        std::uint64_t number) -> void {
    if (end - begin == 1) {
      sizes[static_cast<std::size_t>(begin)] = left_over;
      return;
    }
    const int middle = begin + (end - begin) / 2;
    const double share = static_cast<double>(middle - begin) / (end - begin);
    const double mean = left_over * share;
    const double variance = mean * (1 - share) * std::max(0.0, 1 - filled);
    const double drawn = mean + std::sqrt(variance) * rough_normal(mix(key ^ mix(~number)));
    const auto left = static_cast<std::uint32_t>(
        std::clamp(std::round(drawn), 0.0, static_cast<double>(left_over)));
    self(self, begin, middle, left, 2 * number);
    self(self, middle, end, left_over - left, 2 * number + 1);
  };
  walk(walk, 0, parts, size, 1);
  return sizes;
}

/// The payload with fewer entries.
Payload shrunk(const Payload& payload, double size, const CellCounts* counts, Kind kind) {
  auto result = own_statistics(payload);
  const auto before = static_cast<double>(result.size);
  result.size = static_cast<std::uint32_t>(std::clamp(std::round(size), 0.0, before));
  if (before > 0) {
    result.gross = std::llround(static_cast<double>(result.gross) * result.size / before);
  }
  result.kind = kind;
  result.counts = counts;
  return statistical_payload(std::move(result));
}

/// The magnitude at level 1: the geometric mean over the selections.
double scale_of(const Statistics& body) {
  return std::exp(static_cast<double>(body.log_scale) * Statistics::kUnit / body.sources);
}

std::vector<Payload> payloads_of(std::span<const SparseVector> vectors) {
  std::vector<Payload> payloads;
  for (const SparseVector& vector : vectors) {
    if (vector.size() > 0) payloads.push_back(vector.payload());
  }
  return payloads;
}

/// The number of entries of `vector` whose coordinate `other` has too.
std::uint32_t common(const Payload& vector, const Payload& other) {
  const Statistics& a = statistics_of(vector);
  const Statistics& b = statistics_of(other);
  if (b.kind == Kind::all) return entry_count(vector);
  if (a.kind == Kind::all) return entry_count(other);
  // The share of the selections in `other` that belongs to this vector.
  const double gross = static_cast<double>(b.gross) * entry_count(other) / b.size;
  const double mine = gross / b.sources;
  return static_cast<std::uint32_t>(
      std::min({std::round(mine), static_cast<double>(entry_count(vector)),
                static_cast<double>(entry_count(other))}));
}

/// Joins vectors of different coordinates that are spread over the same range, as its share.
Payload joined_shares(std::span<const Payload> payloads, double share) {
  auto result = own_statistics(payloads.front());
  result.share = share;
  for (const Payload& payload : payloads.subspan(1)) {
    const Statistics& next = statistics_of(payload);
    result.size += entry_count(payload);
    result.gross += next.gross;
    result.level = std::max(result.level, next.level);
    if (next.sources > result.sources) {
      result.sources = next.sources;
      result.log_scale = next.log_scale;
    }
    result.key += next.key;
  }
  return statistical_payload(std::move(result));
}

/// The vector with another number of entries, at most as many as were added.
Payload resized(const Payload& payload, double size) {
  auto result = own_statistics(payload);
  result.size = static_cast<std::uint32_t>(
      std::clamp(std::round(size), 1.0, static_cast<double>(result.gross)));
  return statistical_payload(std::move(result));
}

/// The statistical model of a sparse vector.
class StatisticalBody final : public StatisticalData {
 public:
  explicit StatisticalBody(Statistics statistics) : StatisticalData(std::move(statistics)) {}

  [[nodiscard]] std::size_t position_of(const Payload& payload, std::uint32_t coordinate,
                                        std::size_t /*from*/) const override {
    const Statistics& body = statistics();
    return position_within(payload,
                           gradient::position_of(body, std::int64_t{coordinate} - body.offset));
  }
  [[nodiscard]] std::vector<std::uint32_t> positions_of(
      const Payload& payload, std::span<const std::int64_t> cuts) const override {
    constexpr std::size_t kMany = 32;
    const Statistics& body = statistics();
    const CutSpace space{.first = body.first,
                         .last = body.last,
                         .narrow = Halving::narrow(body),
                         .offset = body.offset};
    std::vector<std::uint32_t> positions;
    if (body.kind == Kind::all || cuts.size() < kMany || space.narrow > CutPlan::kWidest) {
      positions.reserve(cuts.size());
      for (const std::int64_t cut : cuts) {
        positions.push_back(gradient::position_of(body, cut - body.offset));
      }
    } else if (body.counts != nullptr) {
      positions = body.population->cut_plan(space, cuts).positions_in(body);
    } else {
      positions = CutPlan(space, cuts).positions_in(body);
    }
    if (entry_count(payload) != body.size) {
      for (std::uint32_t& position : positions) position = position_within(payload, position);
    }
    return positions;
  }
  [[nodiscard]] std::vector<std::int64_t> coordinates_at(
      const Payload& payload, std::span<const std::size_t> positions) const override {
    return covers_many_cells(positions.size()) ? coordinates_by_cells(payload, positions)
                                               : coordinates_by_halves(payload, positions);
  }
  [[nodiscard]] Payload sum(const Payload& a, const Payload& b) const override {
    return statistical_sum(std::array{a, b});
  }
  [[nodiscard]] Payload sum_within(const Payload& a, const Payload& b, std::uint32_t first,
                                   std::uint32_t last) const override {
    StatisticalUnion both;
    both.add(a);
    both.add(b);
    return both.finish(first, last);
  }
  [[nodiscard]] Payload sum(std::span<const SparseVector> vectors) const override {
    return statistical_sum(payloads_of(vectors));
  }
  [[nodiscard]] Payload concatenation(std::span<const SparseVector> parts) const override {
    return statistical_concatenation(payloads_of(parts));
  }
  [[nodiscard]] float kth_magnitude(const Payload& payload, std::int64_t k) const override {
    const Statistics& body = statistics();
    if (k <= 0) return std::numeric_limits<float>::infinity();
    if (std::cmp_less(entry_count(payload), k)) return 0;
    if (!body.population) return 0;
    const Population& population = *body.population;
    const auto range = entry_range(payload);
    const std::uint32_t first =
        range.first;  // a lambda cannot capture structured bindings in clang 14
    const std::uint32_t last = range.second;
    const auto entries = static_cast<double>(k);
    if (body.kind == Kind::all) {
      // The threshold is consistent with the count that a selection by it will draw.
      const double draw = rough_normal(mix(body.key));
      const bool everywhere = first == 0 && last == population.coordinates();
      const auto level_of = [&](double wanted) {
        return everywhere ? population.level_of(wanted) : population.level_of(first, last, wanted);
      };
      double level = level_of(entries);
      for (int step = 0; step < 4; ++step) {
        const double mean = population.united(first, last, level);
        const double dispersion = population.counts(level).dispersion;
        level = level_of(std::max(0.5, entries - draw * std::sqrt(mean * dispersion)));
      }
      return static_cast<float>(scale_of(body) * population.ratio_of_level(level));
    }
    // For sums: scale the wanted rank by the expected number of entries.
    const double expected = population.united(static_cast<double>(body.level) * Statistics::kUnit);
    const double share = entries / entry_count(payload);
    const double ratio = population.ratio_reached_by(body.sources, share * expected);
    return static_cast<float>(scale_of(body) * ratio);
  }
  [[nodiscard]] Payload at_least(const Payload& payload, float threshold) const override {
    const Statistics& body = statistics();
    if (!(threshold > 0)) return payload;
    if (std::isinf(threshold) || !body.population) return {};
    const Population& population = *body.population;
    const double ratio = static_cast<double>(threshold) / scale_of(body);
    const auto [first, last] = entry_range(payload);
    if (body.kind == Kind::all) {
      const double level = population.level_of_ratio(ratio);
      const double mean = population.united(first, last, level);
      if (mean <= 0) return {};
      const CellCounts& counts = population.counts(level);
      const double drawn = mean + std::sqrt(mean * counts.dispersion) * rough_normal(mix(body.key));
      auto result = own_statistics(payload);
      result.kind = Kind::selected;
      result.size = static_cast<std::uint32_t>(
          std::clamp(std::round(drawn), 0.0, static_cast<double>(last - first)));
      result.gross = result.size;
      result.level = fixed(level);
      result.counts = &counts;
      return statistical_payload(std::move(result));
    }
    const CellCounts& reaching = population.reaching(body.sources, ratio);
    const double there = population.before(reaching, last) - population.before(reaching, first);
    const double level = static_cast<double>(body.level) * Statistics::kUnit;
    const double all = population.united(first, last, level);
    const double share = all > 0 ? std::clamp(there / all, 0.0, 1.0) : 0;
    const double mean = share * entry_count(payload);
    const double drawn =
        mean + std::sqrt(mean * (1 - share)) * rough_normal(mix(body.key ^ mix(first)));
    return shrunk(payload, drawn, &reaching, Kind::kept);
  }
  [[nodiscard]] Payload largest(const Payload& payload, std::int64_t k) const override {
    const Statistics& body = statistics();
    const auto size = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(k, 0, static_cast<std::int64_t>(entry_count(payload))));
    if (size == 0) return {};
    auto result = own_statistics(payload);
    result.kind = Kind::selected;
    result.size = size;
    result.gross = size;
    result.log_scale = body.log_scale / body.sources;
    result.sources = 1;
    if (body.population) {
      const double level = body.population->level_of(result.first, result.last, size);
      result.level = fixed(level);
      result.counts = &body.population->counts(level);
    }
    return statistical_payload(std::move(result));
  }
  [[nodiscard]] Payload largest_in_buckets(const Payload& payload,
                                           const Buckets& buckets) const override {
    const Statistics& body = statistics();
    const bool of_all = body.kind == Kind::all && buckets.k < buckets.end;
    if (!body.population || !of_all) return largest(payload, buckets.k);
    auto result = own_statistics(payload);
    const Population::InBuckets& there =
        body.population->in_buckets(result.first, result.last, buckets);
    result.kind = Kind::selected;
    result.size =
        static_cast<std::uint32_t>(std::llround(there.filled * static_cast<double>(buckets.k)));
    result.gross = result.size;
    result.level = fixed(1);
    result.population = there.population;
    result.counts = &there.population->counts(1);
    return statistical_payload(std::move(result));
  }
  [[nodiscard]] Payload restricted(const Payload& payload, const Payload& other,
                                   bool to_common) const override {
    const std::uint32_t shared = common(payload, other);
    return statistical_part(payload, to_common ? shared : entry_count(payload) - shared);
  }
  [[nodiscard]] Payload moved(const Payload& payload, std::int64_t by) const override {
    auto result = own_statistics(payload);
    result.offset += by;
    return statistical_payload(std::move(result));
  }
  [[nodiscard]] std::vector<Payload> parts_by_hash(const Payload& payload,
                                                   int parts) const override {
    const Statistics all = own_statistics(payload);
    const double room = static_cast<double>(all.last - all.first) * all.share;
    // Ranks that select the same coordinates have the same of them in a part.
    const std::uint64_t key = all.common ? 1 : all.key;
    const std::vector<std::uint32_t> sizes = drawn_sizes(all.size, parts, all.size / room, key);
    std::vector<Payload> payloads;
    payloads.reserve(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Statistics part = all;
      part.size = sizes[i];
      part.gross = std::llround(static_cast<double>(all.gross) * part.size / all.size);
      part.share = all.share / parts;
      part.key = mix(all.key ^ mix(i + 1));
      payloads.push_back(statistical_payload(std::move(part)));
    }
    return payloads;
  }
  [[nodiscard]] Payload joined_by_hash(std::span<const SparseVector> parts) const override {
    const std::vector<Payload> payloads = payloads_of(parts);
    const double share = statistics_of(payloads.front()).share;
    return joined_shares(payloads, std::min(1.0, share * static_cast<double>(parts.size())));
  }
  [[nodiscard]] std::vector<bool> nonzero_blocks(
      const Payload& payload, const BlockSize& size,
      std::span<const std::uint32_t> like) const override {
    const Statistics body = own_statistics(payload);
    std::vector<bool> nonzero(size.count(), body.kind == Kind::all);
    if (body.kind == Kind::all) return nonzero;
    const BlockChances chances = chances_of(body, size);
    // Ranks that select the same coordinates have the same blocks.
    const std::uint64_t key = mix(body.common ? 1 : body.key);
    for (std::uint32_t block = 0; block < nonzero.size(); ++block) {
      const std::uint32_t alike = like.empty() ? block : like[block];
      nonzero[block] = to_unit(mix(key ^ block)) < chances.nonzero(alike);
    }
    return nonzero;
  }
  [[nodiscard]] Payload in_blocks(const Payload& payload, const BlockSize& size,
                                  std::span<const std::uint32_t> blocks,
                                  std::uint32_t of) const override {
    Statistics part = own_statistics(payload);
    const double all = part.size;
    const double share_of_all = static_cast<double>(of) / size.count();
    double share = static_cast<double>(blocks.size()) / size.count();
    if (part.kind != Kind::all) {
      const BlockChances chances = chances_of(part, size);
      share = 0;
      for (const std::uint32_t block : blocks) share += chances.share(block);
    }
    part.key = mix((part.common ? 1 : part.key) ^ mix(blocks.front() + 1));
    // Rounded at random, since few blocks hold one entry or two.
    const double room = (part.last - part.first) * part.share * share_of_all;
    const double entries = std::min(std::floor(all * share + to_unit(mix(part.key))), room);
    part.size = static_cast<std::uint32_t>(std::max(1.0, entries));
    part.gross = std::llround(static_cast<double>(part.gross) * entries / all);
    part.share *= share_of_all;
    return statistical_payload(std::move(part));
  }
  // All blocks with entries are among the parts, so their sum is the union of whole selections: of as
  // many as have all the entries of the parts.
  [[nodiscard]] Payload joined_blocks(std::span<const SparseVector> parts) const override {
    const std::vector<Payload> payloads = payloads_of(parts);
    double share = 0;
    std::int64_t gross = 0;
    for (const Payload& payload : payloads) {
      share += statistics_of(payload).share;
      gross += statistics_of(payload).gross;
    }
    Payload joined = joined_shares(payloads, std::min(1.0, share));
    const Statistics& body = statistics_of(joined);
    const double range = body.last - body.first;
    const auto entries = static_cast<double>(gross);
    if (body.kind == Kind::all || body.common) return joined;
    if (!body.population) return resized(joined, range * -std::expm1(-entries / range));
    const Population& population = *body.population;
    const double each = static_cast<double>(body.level) * Statistics::kUnit / body.sources;
    const double selections = entries / population.united(body.first, body.last, each);
    return resized(joined, population.united(body.first, body.last, selections * each));
  }
  [[nodiscard]] bool equal(const Payload& a, const Payload& b) const override {
    const Statistics& x = statistics_of(a);
    const Statistics& y = statistics_of(b);
    return entry_count(a) == entry_count(b) && x.kind == y.kind &&
           entry_range(a) == entry_range(b) && x.gross == y.gross && x.level == y.level &&
           x.sources == y.sources && x.key == y.key;
  }

 private:
  static BlockChances chances_of(const Statistics& body, const BlockSize& size) {
    if (body.population) {
      return body.population->chances(body.first, size,
                                      static_cast<double>(body.level) * Statistics::kUnit);
    }
    return {size, static_cast<double>(body.size) / size.coordinates};
  }
  static std::uint32_t position_within(const Payload& payload, std::uint32_t position) {
    return std::clamp(position, payload.first, payload.last) - payload.first;
  }
  /// Whether so many positions are in so many cells that the entries of all cells are best drawn.
  [[nodiscard]] bool covers_many_cells(std::size_t positions) const {
    constexpr std::size_t kCellsEach = 8;
    const Statistics& body = statistics();
    if (body.counts == nullptr || body.kind == Kind::all || body.first != 0) return false;
    const Population& population = *body.population;
    return body.last == population.coordinates() && population.cell_width() <= CutPlan::kWidest &&
           kCellsEach * positions >= population.coordinates() / population.cell_width();
  }
  [[nodiscard]] std::vector<std::int64_t> coordinates_by_cells(
      const Payload& payload, std::span<const std::size_t> positions) const {
    const Statistics& body = statistics();
    const CutPlan& cells = body.population->cell_plan();
    const std::vector<std::uint32_t> begins = cells.positions_in(body);
    std::vector<std::int64_t> coordinates;
    coordinates.reserve(positions.size());
    std::size_t at = 0;
    for (const std::size_t from_first : positions) {
      const auto position = static_cast<std::uint32_t>(from_first) + payload.first;
      if (position >= body.size) {
        coordinates.push_back(body.offset + body.last);
        continue;
      }
      while (position >= begins[at + 1]) ++at;
      const Halving::Node cell{.first = static_cast<std::uint32_t>(cells.cuts()[at]),
                               .last = static_cast<std::uint32_t>(cells.cuts()[at + 1]),
                               .begin = begins[at],
                               .size = begins[at + 1] - begins[at],
                               .before = 0,
                               .until = 0};
      coordinates.push_back(body.offset + Halving::coordinate_in(cell, position));
    }
    return coordinates;
  }
  [[nodiscard]] std::vector<std::int64_t> coordinates_by_halves(
      const Payload& payload, std::span<const std::size_t> positions) const {
    const Statistics& body = statistics();
    const Halving halving(body);
    std::vector<std::int64_t> coordinates(positions.size());
    const auto walk = [&](const auto& self, const Halving::Node& node, std::size_t begin,
                          std::size_t end) -> void {
      if (begin == end) return;
      if (halving.whole(node)) {
        for (std::size_t i = begin; i < end; ++i) {
          const auto position = static_cast<std::uint32_t>(positions[i]) + payload.first;
          coordinates[i] =
              body.offset +
              (position >= body.size ? body.last : Halving::coordinate_in(node, position));
        }
        return;
      }
      const auto [left, right] = halving.halves(node);
      const auto from = positions.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = positions.begin() + static_cast<std::ptrdiff_t>(end);
      const std::size_t cut = right.size == 0 ? std::numeric_limits<std::size_t>::max()
                              : right.begin < payload.first
                                  ? 0
                                  : std::size_t{right.begin} - payload.first;
      const auto middle =
          static_cast<std::size_t>(std::lower_bound(from, to, cut) - positions.begin());
      self(self, left, begin, middle);
      self(self, right, middle, end);
    };
    walk(walk, halving.root(), 0, positions.size());
    return coordinates;
  }
};

}  // namespace

void throw_not_statistical() { throw SimulationError("a statistical gradient meets an exact one"); }

std::pair<std::uint32_t, std::uint32_t> entry_range(const Payload& payload) {
  const Statistics& body = statistics_of(payload);
  return {payload.first == 0 ? body.first : coordinate_of(body, payload.first),
          payload.last == body.size ? body.last : coordinate_of(body, payload.last)};
}

Statistics own_statistics(const Payload& payload) {
  const Statistics& body = statistics_of(payload);
  Statistics result = body;
  std::tie(result.first, result.last) = entry_range(payload);
  result.size = entry_count(payload);
  if (result.size != body.size) {
    result.gross = std::llround(static_cast<double>(body.gross) * result.size / body.size);
  }
  return result;
}

Payload statistical_payload(Statistics statistics) {
  const std::uint32_t size = statistics.size;
  if (size == 0) return {};
  return {make_ref<const StatisticalBody>(std::move(statistics)), 0, size};
}

Payload statistical_accumulator(Ref<const Population> population, float scale, std::uint64_t key) {
  Statistics body;
  body.last = population->coordinates();
  body.size = population->coordinates();
  body.gross = body.size;
  body.population = std::move(population);
  body.log_scale = fixed(std::log(static_cast<double>(scale)));
  body.key = key;
  return statistical_payload(std::move(body));
}

Payload statistical_draw(std::uint32_t count, std::uint32_t end, std::uint64_t key, bool common) {
  Statistics body;
  body.kind = Kind::selected;
  body.last = end;
  body.size = count;
  body.gross = count;
  body.key = key;
  body.common = common;
  return statistical_payload(std::move(body));
}

Payload statistical_all(std::uint32_t first, std::uint32_t last) {
  Statistics body;
  body.first = first;
  body.last = last;
  body.size = last - first;
  body.gross = body.size;
  return statistical_payload(std::move(body));
}

Payload statistical_part(const Payload& payload, std::uint32_t size) {
  const Statistics& body = statistics_of(payload);
  return shrunk(payload, size, body.counts, body.kind);
}

Payload statistical_thinned(const Payload& payload, std::uint32_t size) {
  if (size >= entry_count(payload)) return payload;
  if (size == 0) return {};
  auto result = own_statistics(payload);
  if (result.population && result.level > 0 && result.sources == 1) {
    const Population& whole = *result.population;
    const double level = static_cast<double>(result.level) * Statistics::kUnit;
    Ref<const Population> thinned =
        whole.thinned(level, static_cast<double>(size) / static_cast<double>(result.size));
    const double of_all = thinned->level_of(result.first, result.last, size);
    result.log_scale += fixed(std::log(whole.ratio_of_level(level)));
    result.level = fixed(of_all);
    result.counts = &thinned->counts(of_all);
    result.population = std::move(thinned);
  }
  result.size = size;
  result.gross = size;
  return statistical_payload(std::move(result));
}

double statistical_squares(const Payload& payload) {
  const Statistics& body = statistics_of(payload);
  const double share =
      static_cast<double>(entry_count(payload)) / std::max(1.0, static_cast<double>(body.size));
  const double scale = scale_of(body);
  return share * scale * scale * body.population->excess(0, 2);
}

namespace {

/// The entries that are expected before each of the coordinates, by their counts at a level.
std::vector<double> expected_before(const Payload& payload, const CellCounts* counts,
                                    std::span<const std::int64_t> coordinates) {
  const Statistics& body = statistics_of(payload);
  const auto [first, last] = entry_range(payload);
  std::vector<double> before;
  before.reserve(coordinates.size());
  for (const std::int64_t coordinate : coordinates) {
    const std::int64_t at = coordinate - body.offset;
    const auto within =
        static_cast<std::uint32_t>(std::clamp(at, std::int64_t{first}, std::int64_t{last}));
    before.push_back(Halving::expected_before(body.population.get(), counts, within));
  }
  return before;
}

}  // namespace

std::vector<double> statistical_expected_before(const Payload& payload,
                                                std::span<const std::int64_t> coordinates) {
  return expected_before(payload, statistics_of(payload).counts, coordinates);
}

std::vector<double> statistical_squares_before(const Payload& payload,
                                               std::span<const std::int64_t> coordinates) {
  const Statistics& body = statistics_of(payload);
  if (body.counts == nullptr) return statistical_expected_before(payload, coordinates);
  // The entries that a level has and half of it has not are between the magnitudes of both.
  constexpr int kMostHalves = 60;
  constexpr double kNegligible = 1e-4;
  const Population& population = *body.population;
  std::vector<double> squares(coordinates.size());
  const CellCounts* counts = body.counts;
  std::vector<double> entries = expected_before(payload, counts, coordinates);
  double square = std::pow(population.ratio_of_level(counts->level), 2);
  for (int i = 0; i < kMostHalves; ++i) {
    counts = &population.counts(counts->level / 2);
    std::vector<double> fewer = expected_before(payload, counts, coordinates);
    const double larger = std::pow(population.ratio_of_level(counts->level), 2);
    for (std::size_t j = 0; j < squares.size(); ++j) {
      squares[j] += (entries[j] - fewer[j]) * (square + larger) / 2;
    }
    entries = std::move(fewer);
    square = larger;
    const double left = (entries.back() - entries.front()) * square;
    if (left < kNegligible * (squares.back() - squares.front())) break;
  }
  return squares;
}

Payload statistical_of_another_rank(const Payload& payload, int rank) {
  if (rank == 0 || !payload.body) return payload;
  Statistics result = own_statistics(payload);
  result.key = mix(result.key ^ mix(static_cast<std::uint64_t>(rank)));
  return statistical_payload(std::move(result));
}

double statistical_mean_excess(const Payload& payload, double from) {
  const Statistics& body = statistics_of(payload);
  const Population& population = *body.population;
  const double ratio = from / scale_of(body);
  const double above = population.united(population.level_of_ratio(ratio));
  return above > 0 ? scale_of(body) * population.excess(ratio, 1) / above : 0;
}

double statistical_scatter(double count, std::uint64_t key) {
  // Wilson and Hilferty: the cube root of a gamma variable is nearly normal.
  const double root = 1 - 1 / (9 * count) + rough_normal(mix(key)) / (3 * std::sqrt(count));
  return count * std::max(0.0, root * root * root);
}

}  // namespace thinwire::inline gradient
