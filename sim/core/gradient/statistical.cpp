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
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

namespace {

using Kind = Statistics::Kind;

/// Levels and logarithms are summed as integers, so that the order of additions does not matter.
constexpr double kUnit = 0x1p-24;

/// Converts to fixed point; clamped so that 65536 values can be added.
std::int64_t fixed(double value) {
  return std::llround(std::clamp(value, -0x1p22, 0x1p22) / kUnit);
}

/// An approximate standard normal draw, cheaper than an exact one: the sum of four uniform draws.
double rough_normal(std::uint64_t bits) {
  const std::uint64_t sum =
      (bits & 0xffffU) + (bits >> 16U & 0xffffU) + (bits >> 32U & 0xffffU) + (bits >> 48U);
  constexpr double kDeviation = 37837.0;  // of the sum: 65536 / sqrt(3)
  return (static_cast<double>(sum) - 2 * 65535.0) / kDeviation;
}

/// Draws how many of the `size` entries of node `number` are in its left half, where `share` of them
/// is expected. Both halves hold at most one entry per coordinate.
struct HalfDraw {
  std::uint64_t key;  ///< of the vector
  double dispersion;

  [[nodiscard]] std::uint32_t left(std::uint64_t number, std::uint32_t size, double share,
                                   std::uint32_t left_width, std::uint32_t right_width) const {
    const double mean = size * share;
    const double variance = mean * (1 - share) * dispersion;
    const double drawn =
        mean + std::sqrt(std::max(0.0, variance)) * rough_normal(mix(key ^ mix(number)));
    const double least = std::max(0.0, static_cast<double>(size) - right_width);
    const double most = std::min<double>(size, left_width);
    // Both bounds are whole and not negative, so cutting off is rounding down.
    return static_cast<std::uint32_t>(std::clamp(drawn + 0.5, least, most));
  }
};

/// Descends a binary tree over a vector's range. The number of entries in a left half is drawn with
/// the vector's key and the number of the node, so that every query finds the same.
class Halving {
 public:
  explicit Halving(const Statistics& body)
      : body_(body), draw_{body.key, body.counts != nullptr ? body.counts->dispersion : 1} {}

  struct Node {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t begin;  ///< entries before the node
    std::uint32_t size;
    double before;  ///< expected entries before its begin, and before its end
    double until;
    std::uint64_t number = 1;  ///< node i has the halves 2i and 2i + 1
  };

  [[nodiscard]] Node root() const {
    return {body_.first, body_.last, 0, body_.size, before(body_.first), before(body_.last)};
  }
  [[nodiscard]] bool whole(const Node& node) const {
    return body_.kind == Kind::all || node.size == 0 || node.size == node.last - node.first ||
           node.last - node.first <= width();
  }
  [[nodiscard]] std::pair<Node, Node> halves(const Node& node) const {
    const std::uint32_t middle = node.first + (node.last - node.first) / 2;
    const double there = before(middle);
    const double all = node.until - node.before;
    const double share = all > 0 ? (there - node.before) / all : 0.5;
    const std::uint32_t left =
        draw_.left(node.number, node.size, share, middle - node.first, node.last - middle);
    return {{node.first, middle, node.begin, left, node.before, there, 2 * node.number},
            {middle, node.last, node.begin + left, node.size - left, there, node.until,
             2 * node.number + 1}};
  }
  /// Entries are evenly spaced within a node that is not halved further.
  static std::uint32_t position_in(const Node& node, std::int64_t coordinate) {
    if (coordinate <= node.first) return node.begin;
    if (coordinate >= node.last) return node.begin + node.size;
    const auto offset = static_cast<std::uint64_t>(coordinate - node.first);
    return node.begin + static_cast<std::uint32_t>(offset * node.size / (node.last - node.first));
  }
  /// The smallest coordinate whose position is at least `position`.
  static std::uint32_t coordinate_in(const Node& node, std::uint32_t position) {
    if (position <= node.begin || node.size == 0) return node.first;
    const std::uint64_t offset = position - node.begin;
    const std::uint64_t width = node.last - node.first;
    return node.first + static_cast<std::uint32_t>((offset * width + node.size - 1) / node.size);
  }

 private:
  [[nodiscard]] std::uint32_t width() const {
    return body_.counts != nullptr ? body_.population->cell_width() : 1;
  }
  [[nodiscard]] double before(std::uint32_t coordinate) const {
    return body_.counts != nullptr ? body_.population->before(*body_.counts, coordinate)
                                   : coordinate;
  }

  const Statistics& body_;
  HalfDraw draw_;
};

/// Whether Row may be asked.
bool covers_space(const Statistics& body) {
  return body.counts != nullptr && body.kind != Kind::all && body.first == 0 &&
         body.last == body.population->coordinates();
}

/// Positions of many cuts of a vector that covers the whole space of its population. The nodes of
/// a depth are drawn together as far as there are more cuts than nodes; then each cut goes on alone.
/// The draws are Halving's.
class Row {
 public:
  Row(const Statistics& body, std::size_t cuts)
      : shares_(body.population->left_shares(*body.counts)),
        draw_{body.key, body.counts->dispersion} {
    const HalvedSpace& space = body.population->halved_space();
    const std::size_t depth = std::min<std::size_t>(space.full_depth, std::bit_width(cuts));
    sizes_.assign(1, body.size);
    std::vector<std::uint32_t> above;
    for (std::size_t d = 0; d < depth; ++d) {
      above.swap(sizes_);
      sizes_.resize(2 * above.size());
      const std::uint32_t* const begins = space.begins[d + 1].data();
      const double* const shares = shares_.data() + above.size();
      for (std::size_t i = 0; i < above.size(); ++i) {
        const std::uint32_t left =
            draw_.left(above.size() + i, above[i], shares[i], begins[2 * i + 1] - begins[2 * i],
                       begins[2 * i + 2] - begins[2 * i + 1]);
        sizes_[2 * i] = left;
        sizes_[2 * i + 1] = above[i] - left;
      }
    }
    begins_ = &space.begins[depth];
  }

  /// The positions of increasing coordinates, one after another.
  [[nodiscard]] std::uint32_t position_of(std::int64_t coordinate) {
    while (at_ + 1 < sizes_.size() && coordinate >= (*begins_)[at_ + 1]) before_ += sizes_[at_++];
    std::uint32_t first = (*begins_)[at_];
    std::uint32_t last = (*begins_)[at_ + 1];
    std::uint32_t begin = before_;
    std::uint32_t size = sizes_[at_];
    std::size_t node = sizes_.size() + at_;
    while (node < shares_.size() && shares_[node] >= 0) {
      const std::uint32_t middle = first + (last - first) / 2;
      const std::uint32_t left =
          draw_.left(node, size, shares_[node], middle - first, last - middle);
      node = 2 * node;
      if (coordinate < middle) {
        last = middle;
        size = left;
      } else {
        first = middle;
        begin += left;
        size -= left;
        ++node;
      }
    }
    return Halving::position_in(
        {.first = first, .last = last, .begin = begin, .size = size, .before = 0, .until = 0},
        coordinate);
  }

 private:
  const std::vector<double>& shares_;  ///< of the nodes, in their left halves
  HalfDraw draw_;
  std::vector<std::uint32_t> sizes_;  ///< of the nodes of one depth
  const std::vector<std::uint32_t>* begins_;
  std::size_t at_ = 0;        ///< the node of the last coordinate
  std::uint32_t before_ = 0;  ///< entries before it
};

std::uint32_t position_in(const Statistics& body, std::int64_t coordinate) {
  const Halving halving(body);
  Halving::Node node = halving.root();
  while (coordinate > node.first && coordinate < node.last && !halving.whole(node)) {
    const auto [left, right] = halving.halves(node);
    node = coordinate < left.last ? left : right;
  }
  return Halving::position_in(node, coordinate);
}

std::uint32_t coordinate_of(const Statistics& body, std::uint32_t position) {
  const Halving halving(body);
  Halving::Node node = halving.root();
  if (position >= body.size) return body.last;
  while (!halving.whole(node)) {
    const auto [left, right] = halving.halves(node);
    node = position < right.begin || right.size == 0 ? left : right;
  }
  return Halving::coordinate_in(node, position);
}

std::uint32_t length(const Payload& payload) { return payload.last - payload.first; }

bool is_slice(const Payload& payload, const Statistics& body) {
  return length(payload) != body.size;
}

/// The range in which the entries of a payload lie; for a slice, from its first entry to its end.
std::pair<std::uint32_t, std::uint32_t> range_of(const Payload& payload, const Statistics& body) {
  return {payload.first == 0 ? body.first : coordinate_of(body, payload.first),
          payload.last == body.size ? body.last : coordinate_of(body, payload.last)};
}

Payload whole(Statistics body);
const Statistics& body_of(const Payload& payload);

/// The statistics of the payload alone, which may be a slice of the body.
Statistics like(const Payload& payload, const Statistics& body) {
  Statistics result;
  result.population = body.population;
  result.kind = body.kind;
  std::tie(result.first, result.last) = range_of(payload, body);
  result.offset = body.offset;
  result.size = length(payload);
  result.gross = is_slice(payload, body)
                     ? std::llround(static_cast<double>(body.gross) * result.size / body.size)
                     : body.gross;
  result.level = body.level;
  result.sources = body.sources;
  result.key = body.key;
  result.log_scale = body.log_scale;
  result.common = body.common;
  result.share = body.share;
  result.counts = body.counts;
  return result;
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
Payload shrunk(const Payload& payload, const Statistics& body, double size,
               const CellCounts* counts, Kind kind) {
  auto result = like(payload, body);
  const auto before = static_cast<double>(result.size);
  result.size = static_cast<std::uint32_t>(std::clamp(std::round(size), 0.0, before));
  if (before > 0) {
    result.gross = std::llround(static_cast<double>(result.gross) * result.size / before);
  }
  result.kind = kind;
  result.counts = counts;
  return whole(std::move(result));
}

/// The magnitude at level 1: the geometric mean over the selections.
double scale_of(const Statistics& body) {
  return std::exp(static_cast<double>(body.log_scale) * kUnit / body.sources);
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
  const Statistics& a = body_of(vector);
  const Statistics& b = body_of(other);
  if (b.kind == Kind::all) return length(vector);
  if (a.kind == Kind::all) return length(other);
  // The share of the selections in `other` that belongs to this vector.
  const double gross = static_cast<double>(b.gross) * length(other) / b.size;
  const double mine = gross / b.sources;
  return static_cast<std::uint32_t>(std::min(
      {std::round(mine), static_cast<double>(length(vector)), static_cast<double>(length(other))}));
}

Payload concatenated(std::span<const Payload> parts) {
  std::optional<Statistics> result;
  for (const Payload& part : parts) {
    const Statistics next = like(part, body_of(part));
    if (!result) {
      result = next;
      continue;
    }
    if (!result->population) result->population = next.population;
    if (result->counts == nullptr) result->counts = next.counts;
    result->last = static_cast<std::uint32_t>(next.last + next.offset - result->offset);
    result->size += next.size;
    result->gross += next.gross;
    result->level = std::max(result->level, next.level);
    if (next.sources > result->sources) {
      result->sources = next.sources;
      result->log_scale = next.log_scale;
    }
    result->key = mix(result->key) ^ next.key;
    if (result->kind != next.kind) result->kind = Kind::selected;
  }
  if (!result) return {};
  return whole(std::move(*result));
}

/// Vectors in the same range are united, those in disjoint ranges concatenated.
Payload united(std::span<const Payload> vectors) {
  if (vectors.empty()) return {};
  if (vectors.size() == 1) return vectors.front();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t last = 0;
  for (const Payload& vector : vectors) {
    ranges.push_back(range_of(vector, body_of(vector)));
    first = std::min(first, ranges.back().first);
    last = std::max(last, ranges.back().second);
  }
  // Neighbours that were cut apart are disjoint; all others cover the same range.
  std::vector<std::size_t> order(vectors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return ranges[i]; });
  bool apart = true;
  for (std::size_t i = 1; i < order.size(); ++i) {
    apart = apart && ranges[order[i - 1]].second <= ranges[order[i]].first;
  }
  if (apart) {
    std::vector<Payload> parts;
    for (const std::size_t i : order) parts.push_back(vectors[i]);
    return concatenated(parts);
  }
  StatisticalUnion all;
  for (const Payload& vector : vectors) all.add(vector);
  const std::int64_t offset = body_of(vectors.front()).offset;
  return all.finish(first + offset, last + offset);
}

/// The statistical model of a sparse vector.
class StatisticalBody final : public SparseBody {
 public:
  explicit StatisticalBody(Statistics statistics)
      : SparseBody(true), statistics_(std::move(statistics)) {}

  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

  [[nodiscard]] std::size_t position_of(const Payload& payload, std::uint32_t coordinate,
                                        std::size_t /*from*/) const override {
    const Statistics& body = statistics_;
    const std::uint32_t position = position_in(body, std::int64_t{coordinate} - body.offset);
    return std::clamp(position, payload.first, payload.last) - payload.first;
  }
  [[nodiscard]] std::vector<std::uint32_t> positions_of(
      const Payload& payload, std::span<const std::int64_t> cuts) const override {
    const Statistics& body = statistics_;
    std::vector<std::uint32_t> positions(cuts.size());
    constexpr std::size_t kMany = 32;
    if (cuts.size() >= kMany && covers_space(body)) {
      Row row(body, cuts.size());
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        const std::uint32_t position = row.position_of(cuts[i] - body.offset);
        positions[i] = std::clamp(position, payload.first, payload.last) - payload.first;
      }
      return positions;
    }
    const Halving halving(body);
    const auto walk = [&](const auto& self, const Halving::Node& node, std::size_t begin,
                          std::size_t end) -> void {
      if (begin == end) return;
      if (halving.whole(node)) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::uint32_t position = Halving::position_in(node, cuts[i] - body.offset);
          positions[i] = std::clamp(position, payload.first, payload.last) - payload.first;
        }
        return;
      }
      const auto [left, right] = halving.halves(node);
      const auto from = cuts.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = cuts.begin() + static_cast<std::ptrdiff_t>(end);
      const auto middle = static_cast<std::size_t>(
          std::lower_bound(from, to, std::int64_t{right.first} + body.offset) - cuts.begin());
      self(self, left, begin, middle);
      self(self, right, middle, end);
    };
    walk(walk, halving.root(), 0, cuts.size());
    return positions;
  }
  [[nodiscard]] std::vector<std::int64_t> coordinates_at(
      const Payload& payload, std::span<const std::size_t> positions) const override {
    const Statistics& body = statistics_;
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
  [[nodiscard]] Payload sum(const Payload& a, const Payload& b) const override {
    return united(std::array{a, b});
  }
  [[nodiscard]] Payload sum_within(const Payload& a, const Payload& b, std::uint32_t first,
                                   std::uint32_t last) const override {
    StatisticalUnion both;
    both.add(a);
    both.add(b);
    return both.finish(first, last);
  }
  [[nodiscard]] Payload sum(std::span<const SparseVector> vectors) const override {
    return united(payloads_of(vectors));
  }
  [[nodiscard]] Payload concatenation(std::span<const SparseVector> parts) const override {
    return concatenated(payloads_of(parts));
  }
  [[nodiscard]] float kth_magnitude(const Payload& payload, std::int64_t k) const override {
    const Statistics& body = statistics_;
    if (k <= 0) return std::numeric_limits<float>::infinity();
    if (std::cmp_less(length(payload), k)) return 0;
    if (!body.population) return 0;
    const Population& population = *body.population;
    const auto range = range_of(payload, body);
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
    const double expected = population.united(static_cast<double>(body.level) * kUnit);
    const double share = entries / length(payload);
    const double ratio = population.ratio_reached_by(body.sources, share * expected);
    return static_cast<float>(scale_of(body) * ratio);
  }
  [[nodiscard]] Payload at_least(const Payload& payload, float threshold) const override {
    const Statistics& body = statistics_;
    if (!(threshold > 0)) return payload;
    if (std::isinf(threshold) || !body.population) return {};
    const Population& population = *body.population;
    const double ratio = static_cast<double>(threshold) / scale_of(body);
    const auto [first, last] = range_of(payload, body);
    if (body.kind == Kind::all) {
      const double level = population.level_of_ratio(ratio);
      const double mean = population.united(first, last, level);
      if (mean <= 0) return {};
      const CellCounts& counts = population.counts(level);
      const double drawn = mean + std::sqrt(mean * counts.dispersion) * rough_normal(mix(body.key));
      auto result = like(payload, body);
      result.kind = Kind::selected;
      result.size = static_cast<std::uint32_t>(
          std::clamp(std::round(drawn), 0.0, static_cast<double>(last - first)));
      result.gross = result.size;
      result.level = fixed(level);
      result.counts = &counts;
      return whole(std::move(result));
    }
    const CellCounts& reaching = population.reaching(body.sources, ratio);
    const double there = population.before(reaching, last) - population.before(reaching, first);
    const double level = static_cast<double>(body.level) * kUnit;
    const double all = population.united(first, last, level);
    const double share = all > 0 ? std::clamp(there / all, 0.0, 1.0) : 0;
    const double mean = share * length(payload);
    const double drawn =
        mean + std::sqrt(mean * (1 - share)) * rough_normal(mix(body.key ^ mix(first)));
    return shrunk(payload, body, drawn, &reaching, Kind::kept);
  }
  [[nodiscard]] Payload largest(const Payload& payload, std::int64_t k) const override {
    const Statistics& body = statistics_;
    const auto size = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(k, 0, static_cast<std::int64_t>(length(payload))));
    if (size == 0) return {};
    auto result = like(payload, body);
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
    return whole(std::move(result));
  }
  [[nodiscard]] Payload restricted(const Payload& payload, const Payload& other,
                                   bool to_common) const override {
    const std::uint32_t shared = common(payload, other);
    return statistical_part(payload, to_common ? shared : length(payload) - shared);
  }
  [[nodiscard]] Payload moved(const Payload& payload, std::int64_t by) const override {
    const Statistics& body = statistics_;
    auto result = like(payload, body);
    result.offset += by;
    return whole(std::move(result));
  }
  [[nodiscard]] std::vector<Payload> parts_by_hash(const Payload& payload,
                                                   int parts) const override {
    const Statistics all = like(payload, statistics_);
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
      payloads.push_back(whole(std::move(part)));
    }
    return payloads;
  }
  [[nodiscard]] Payload joined_by_hash(std::span<const SparseVector> parts) const override {
    const std::vector<Payload> payloads = payloads_of(parts);
    auto result = like(payloads.front(), body_of(payloads.front()));
    result.share = std::min(1.0, result.share * static_cast<double>(parts.size()));
    for (const Payload& payload : std::span(payloads).subspan(1)) {
      const Statistics& next = body_of(payload);
      result.size += length(payload);
      result.gross += next.gross;
      result.level = std::max(result.level, next.level);
      if (next.sources > result.sources) {
        result.sources = next.sources;
        result.log_scale = next.log_scale;
      }
      result.key += next.key;
    }
    return whole(std::move(result));
  }
  [[nodiscard]] bool equal(const Payload& a, const Payload& b) const override {
    const Statistics& x = body_of(a);
    const Statistics& y = body_of(b);
    return length(a) == length(b) && x.kind == y.kind && range_of(a, x) == range_of(b, y) &&
           x.gross == y.gross && x.level == y.level && x.sources == y.sources && x.key == y.key;
  }

 private:
  Statistics statistics_;
};

Payload whole(Statistics body) {
  const std::uint32_t size = body.size;
  if (size == 0) return {};
  return {make_ref<const StatisticalBody>(std::move(body)), 0, size};
}

const Statistics& body_of(const Payload& payload) {
  const auto& body = static_cast<const SparseBody&>(*payload.body);
  if (!body.is_statistical()) throw SimulationError("a statistical gradient meets an exact one");
  return static_cast<const StatisticalBody&>(body).statistics();
}

}  // namespace

Payload statistical_accumulator(Ref<const Population> population, float scale, std::uint64_t key) {
  Statistics body;
  body.last = population->coordinates();
  body.size = population->coordinates();
  body.gross = body.size;
  body.population = std::move(population);
  body.log_scale = fixed(std::log(static_cast<double>(scale)));
  body.key = key;
  return whole(std::move(body));
}

Payload statistical_draw(std::uint32_t count, std::uint32_t end, std::uint64_t key, bool common) {
  Statistics body;
  body.kind = Kind::selected;
  body.last = end;
  body.size = count;
  body.gross = count;
  body.key = key;
  body.common = common;
  return whole(std::move(body));
}

Payload statistical_all(std::uint32_t first, std::uint32_t last) {
  Statistics body;
  body.first = first;
  body.last = last;
  body.size = last - first;
  body.gross = body.size;
  return whole(std::move(body));
}

void StatisticalUnion::add(const Payload& payload) {
  const Statistics& body = body_of(payload);
  const std::uint32_t size = length(payload);
  if (sources_ == 0) {
    population_ = body.population;
    kind_ = body.kind;
    offset_ = body.offset;
    common_ = body.common;
    share_ = body.share;
  } else {
    kind_ = std::max(kind_, body.kind);
    common_ = common_ && body.common;
  }
  gross_ += size == body.size ? body.gross
                              : std::llround(static_cast<double>(body.gross) * size / body.size);
  level_ += body.level;
  log_scale_ += body.log_scale;
  sources_ += body.sources;
  key_ += body.key;
  most_ = std::max(most_, size);
}

Payload StatisticalUnion::finish(std::int64_t first, std::int64_t last) {
  if (sources_ == 0) return {};
  Statistics result;
  result.first = static_cast<std::uint32_t>(first - offset_);
  result.last = static_cast<std::uint32_t>(last - offset_);
  const double range = (result.last - result.first) * share_;
  const auto gross = static_cast<double>(gross_);
  double size = 0;
  if (common_) {
    size = most_;
  } else if (!population_) {
    // Evenly drawn entries: the probability that no source has a coordinate is a product.
    const auto sources = static_cast<double>(sources_);
    const double share = range > 0 ? std::min(1.0, gross / sources / range) : 0;
    size = share >= 1 ? range : range * -std::expm1(sources * std::log1p(-share));
  } else {
    // The local level is estimated from the number of entries that were added.
    const double level = static_cast<double>(level_) * kUnit;
    const double each = level / static_cast<double>(sources_);
    const double expected = share_ * population_->united(result.first, result.last, each) *
                            static_cast<double>(sources_);
    const double slope = share_ * population_->slope(result.first, result.last, each);
    // When hardly any coordinate is left out, that number carries no information.
    const bool telling = slope * level > 1e-3 * expected;
    const double here = telling ? std::max(0.0, level + (gross - expected) / slope) : level;
    size = sources_ == 1 ? gross : share_ * population_->united(result.first, result.last, here);
    result.counts = &population_->counts(level);
  }
  result.population = std::exchange(population_, {});
  result.kind = kind_ == Kind::all ? Kind::all : Kind::selected;
  result.offset = offset_;
  result.size =
      static_cast<std::uint32_t>(std::clamp(std::round(size), 0.0, std::min(gross, range)));
  result.gross = std::exchange(gross_, 0);
  result.level = std::exchange(level_, 0);
  result.sources = static_cast<int>(std::exchange(sources_, 0));
  result.key = std::exchange(key_, 0);
  result.log_scale = std::exchange(log_scale_, 0);
  result.common = common_;
  result.share = share_;
  if (result.kind == Kind::all) result.size = static_cast<std::uint32_t>(std::llround(range));
  most_ = 0;
  return whole(std::move(result));
}

Payload statistical_part(const Payload& payload, std::uint32_t size) {
  const Statistics& body = body_of(payload);
  return shrunk(payload, body, size, body.counts, body.kind);
}

double statistical_squares(const Payload& payload) {
  const Statistics& body = body_of(payload);
  const double share =
      static_cast<double>(length(payload)) / std::max(1.0, static_cast<double>(body.size));
  const double scale = scale_of(body);
  return share * scale * scale * body.population->excess(0, 2);
}

double statistical_mean_excess(const Payload& payload, double from) {
  const Statistics& body = body_of(payload);
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
