#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/statistical_payload.hpp"

namespace thinwire::inline gradient {

Payload statistical_concatenation(std::span<const Payload> parts) {
  std::optional<Statistics> result;
  for (const Payload& part : parts) {
    const Statistics next = own_statistics(part);
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
    if (result->kind != next.kind) result->kind = Statistics::Kind::selected;
  }
  if (!result) return {};
  return statistical_payload(std::move(*result));
}

Payload statistical_sum(std::span<const Payload> vectors) {
  if (vectors.empty()) return {};
  if (vectors.size() == 1) return vectors.front();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t last = 0;
  for (const Payload& vector : vectors) {
    ranges.push_back(entry_range(vector));
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
    return statistical_concatenation(parts);
  }
  StatisticalUnion all;
  for (const Payload& vector : vectors) all.add(vector);
  const std::int64_t offset = statistics_of(vectors.front()).offset;
  return all.finish(first + offset, last + offset);
}

void StatisticalUnion::add(const Payload& payload) {
  const Statistics& body = statistics_of(payload);
  const std::uint32_t size = entry_count(payload);
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
  if (body.gross == body.size) {
    gross_ += size;  // of one selection
  } else {
    gross_ += size == body.size ? body.gross
                                : std::llround(static_cast<double>(body.gross) * size / body.size);
  }
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
    const double level = static_cast<double>(level_) * Statistics::kUnit;
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
  result.kind = kind_ == Statistics::Kind::all ? Statistics::Kind::all : Statistics::Kind::selected;
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
  if (result.kind == Statistics::Kind::all)
    result.size = static_cast<std::uint32_t>(std::llround(range));
  most_ = 0;
  return statistical_payload(std::move(result));
}

}  // namespace thinwire::inline gradient
