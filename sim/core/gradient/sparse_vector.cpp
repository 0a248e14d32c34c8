#include "sim/core/gradient/sparse_vector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/prefetch.hpp"

namespace thinwire::inline gradient {

namespace {

struct SparseBody final : Body {
  explicit SparseBody(std::vector<Entry> e) : entries(std::move(e)) {}
  std::vector<Entry> entries;
};

/// Copies the entries for which `keep` says so.
template <class Keep>
SparseVector filter(const SparseVector& vector, Keep keep) {
  std::vector<Entry> kept;
  std::copy_if(vector.entries().begin(), vector.entries().end(), std::back_inserter(kept), keep);
  if (kept.size() == vector.size()) return vector;
  kept.shrink_to_fit();
  return SparseVector::trusted(std::move(kept));
}

/// The touched coordinates of a window of sums that begins at `first`.
SparseVector entries_of_window(std::uint32_t first, std::span<const float> window,
                               std::span<const std::uint64_t> touched) {
  std::vector<Entry> entries;
  entries.reserve(std::accumulate(touched.begin(), touched.end(), std::size_t{0},
                                  [](std::size_t size, std::uint64_t bits) {
                                    return size + static_cast<std::size_t>(std::popcount(bits));
                                  }));
  for (std::size_t block = 0; block < touched.size(); ++block) {
    for (std::uint64_t bits = touched[block]; bits != 0; bits &= bits - 1) {
      const auto at = static_cast<std::uint32_t>(64 * block) +
                      static_cast<std::uint32_t>(std::countr_zero(bits));
      entries.push_back({first + at, window[at]});
    }
  }
  return SparseVector::trusted(std::move(entries));
}

std::vector<Payload> payloads_of(std::span<const SparseVector> vectors) {
  std::vector<Payload> payloads;
  for (const SparseVector& vector : vectors) {
    if (vector.size() > 0) payloads.push_back(vector.payload());
  }
  return payloads;
}

bool any_statistical(std::span<const SparseVector> vectors) {
  return std::ranges::any_of(vectors, &SparseVector::is_statistical);
}

SparseVector filter_by_membership(const SparseVector& vector, const SparseVector& other,
                                  bool wanted) {
  const auto theirs = other.entries();
  auto at = theirs.begin();
  return filter(vector, [&](const Entry& entry) {
    while (at != theirs.end() && at->coordinate < entry.coordinate) ++at;
    return (at != theirs.end() && at->coordinate == entry.coordinate) == wanted;
  });
}

}  // namespace

SparseVector SparseVector::checked(std::vector<Entry> entries) {
  const auto fall = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b) { return a.coordinate >= b.coordinate; });
  if (fall != entries.end()) {
    throw InputError(
        fmt::format("the coordinates of a sparse vector must increase, but {} follows {}",
                    fall[1].coordinate, fall[0].coordinate));
  }
  const auto odd = std::find_if(entries.begin(), entries.end(),
                                [](const Entry& entry) { return !std::isfinite(entry.value); });
  if (odd != entries.end()) {
    throw InputError(fmt::format("the value at coordinate {} is {}, but gradients must be finite",
                                 odd->coordinate, odd->value));
  }
  return trusted(std::move(entries));
}

SparseVector SparseVector::trusted(std::vector<Entry> entries) {
  if (entries.empty()) return {};
  const auto size = static_cast<std::uint32_t>(entries.size());
  return SparseVector({make_ref<const SparseBody>(std::move(entries)), 0, size});
}

SparseVector SparseVector::from(const Payload& payload) { return SparseVector(payload); }

std::span<const Entry> SparseVector::entries() const {
  if (!payload_.body) return {};
  if (is_statistical()) throw SimulationError("a statistical gradient has no entries to look at");
  const auto& body = static_cast<const SparseBody&>(*payload_.body);
  return std::span(body.entries).subspan(payload_.first, size());
}

SparseVector SparseVector::slice(std::size_t first, std::size_t last) const {
  if (first == last) return {};
  return SparseVector({payload_.body, payload_.first + static_cast<std::uint32_t>(first),
                       payload_.first + static_cast<std::uint32_t>(last)});
}

std::size_t SparseVector::position_of(std::uint32_t coordinate, std::size_t from) const {
  if (is_statistical()) return statistical_position(payload_, coordinate);
  const auto all = entries();
  std::size_t stride = 1;
  while (from + stride < all.size() && all[from + stride].coordinate < coordinate) stride *= 2;
  const auto near = all.subspan(from, std::min(stride + 1, all.size() - from));
  const auto at = std::ranges::lower_bound(near, coordinate, {}, &Entry::coordinate);
  return from + static_cast<std::size_t>(at - near.begin());
}

std::vector<std::uint32_t> SparseVector::positions_of(std::span<const std::int64_t> cuts) const {
  if (is_statistical()) return statistical_positions(payload_, cuts);
  std::vector<std::uint32_t> positions;
  positions.reserve(cuts.size());
  std::size_t position = 0;
  for (const std::int64_t cut : cuts) {
    position = position_of(static_cast<std::uint32_t>(cut), position);
    positions.push_back(static_cast<std::uint32_t>(position));
  }
  return positions;
}

std::vector<std::int64_t> SparseVector::coordinates_at(
    std::span<const std::size_t> positions) const {
  if (is_statistical()) return statistical_coordinates(payload_, positions);
  std::vector<std::int64_t> coordinates;
  coordinates.reserve(positions.size());
  for (const std::size_t position : positions) {
    coordinates.push_back(entries()[position].coordinate);
  }
  return coordinates;
}

SparseVector sum(const SparseVector& a, const SparseVector& b) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  if (a.is_statistical()) {
    return SparseVector::from(statistical_sum(std::array{a.payload(), b.payload()}));
  }
  const auto ea = a.entries();
  const auto eb = b.entries();
  std::vector<Entry> merged(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t out = 0;
  for (; i < ea.size() && j < eb.size(); ++out) {
    const bool from_a = ea[i].coordinate <= eb[j].coordinate;
    const bool from_b = eb[j].coordinate <= ea[i].coordinate;
    merged[out] = {from_a ? ea[i].coordinate : eb[j].coordinate,
                   (from_a ? ea[i].value : 0.0F) + (from_b ? eb[j].value : 0.0F)};
    i += from_a ? 1 : 0;
    j += from_b ? 1 : 0;
  }
  const auto rest = std::copy(ea.begin() + static_cast<std::ptrdiff_t>(i), ea.end(),
                              merged.begin() + static_cast<std::ptrdiff_t>(out));
  const auto end = std::copy(eb.begin() + static_cast<std::ptrdiff_t>(j), eb.end(), rest);
  merged.erase(end, merged.end());
  merged.shrink_to_fit();
  return SparseVector::trusted(std::move(merged));
}

SparseVector sum_within(const SparseVector& a, const SparseVector& b, std::uint32_t first,
                        std::uint32_t last) {
  if (a.size() == 0 || b.size() == 0 || !a.is_statistical()) return sum(a, b);
  StatisticalUnion both;
  both.add(a.payload());
  both.add(b.payload());
  return SparseVector::from(both.finish(first, last));
}

SparseVector sum(std::span<const SparseVector> vectors) {
  if (any_statistical(vectors)) return SparseVector::from(statistical_sum(payloads_of(vectors)));
  std::size_t count = 0;
  std::uint32_t first = UINT32_MAX;
  std::uint32_t end = 0;
  for (const SparseVector& vector : vectors) {
    if (vector.size() == 0) continue;
    count += vector.size();
    first = std::min(first, vector.entries().front().coordinate);
    end = std::max(end, vector.entries().back().coordinate + 1);
  }
  if (count == 0) return {};

  // Window by window, so that the window of sums stays in cache while every vector adds to it.
  constexpr std::uint32_t kWindow = 1U << 16U;
  const std::size_t windows = (end - first) / kWindow + 1;
  if (windows * vectors.size() > 4 * count) {
    // So thin that looking for entries would cost more than the entries: halve and merge.
    const std::size_t half = vectors.size() / 2;
    if (half == 0) return vectors.front();
    return sum(sum(vectors.first(half)), sum(vectors.subspan(half)));
  }
  std::vector<std::size_t> position(vectors.size(), 0);
  std::vector<SparseVector> parts;
  std::vector<float> window(kWindow);
  std::vector<std::uint64_t> touched(kWindow / 64);
  for (std::uint64_t low = first; low < end; low += kWindow) {
    std::ranges::fill(window, 0.0F);
    std::ranges::fill(touched, 0);
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      const auto entries = vectors[v].entries();
      std::size_t& i = position[v];
      for (; i < entries.size() && entries[i].coordinate < low + kWindow; ++i) {
        const std::uint64_t at = entries[i].coordinate - low;
        window[at] += entries[i].value;
        touched[at / 64] |= std::uint64_t{1} << (at % 64);
      }
    }
    parts.push_back(entries_of_window(static_cast<std::uint32_t>(low), window, touched));
  }
  return concatenate(parts);
}

SparseVector concatenate(std::span<const SparseVector> parts) {
  if (parts.size() == 1) return parts.front();
  if (any_statistical(parts)) {
    return SparseVector::from(statistical_concatenation(payloads_of(parts)));
  }
  std::vector<Entry> all;
  all.reserve(std::accumulate(
      parts.begin(), parts.end(), std::size_t{0},
      [](std::size_t size, const SparseVector& part) { return size + part.size(); }));
  for (const SparseVector& part : parts) {
    all.insert(all.end(), part.entries().begin(), part.entries().end());
  }
  return SparseVector::trusted(std::move(all));
}

float kth_magnitude(const SparseVector& vector, std::int64_t k) {
  if (vector.is_statistical()) return statistical_kth_magnitude(vector.payload(), k);
  if (k <= 0) return std::numeric_limits<float>::infinity();
  if (std::cmp_less(vector.size(), k)) return 0.0F;
  std::vector<float> magnitudes(vector.size());
  std::ranges::transform(vector.entries(), magnitudes.begin(),
                         [](const Entry& entry) { return std::abs(entry.value); });
  const auto kth = magnitudes.begin() + (k - 1);
  std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>());
  return *kth;
}

SparseVector select_at_least(const SparseVector& vector, float threshold) {
  if (vector.is_statistical()) {
    return SparseVector::from(statistical_at_least(vector.payload(), threshold));
  }
  return filter(vector, [&](const Entry& entry) { return std::abs(entry.value) >= threshold; });
}

SparseVector select_largest(const SparseVector& vector, std::int64_t k) {
  if (vector.is_statistical()) {
    return SparseVector::from(statistical_largest(vector.payload(), k));
  }
  const float threshold = kth_magnitude(vector, k);
  const auto above = std::ranges::count_if(
      vector.entries(), [&](const Entry& entry) { return std::abs(entry.value) > threshold; });
  std::int64_t ties = k - above;
  return filter(vector, [&](const Entry& entry) {
    const float magnitude = std::abs(entry.value);
    return magnitude > threshold || (magnitude == threshold && ties-- > 0);
  });
}

SparseVector intersect(const SparseVector& vector, const SparseVector& other) {
  if (vector.is_statistical() && other.is_statistical()) {
    const std::uint32_t common = statistical_common(vector.payload(), other.payload());
    return SparseVector::from(statistical_part(vector.payload(), common));
  }
  if (vector.size() == 0 || other.size() == 0) return {};
  return filter_by_membership(vector, other, true);
}

SparseVector without(const SparseVector& vector, const SparseVector& other) {
  if (vector.is_statistical() && other.is_statistical()) {
    const std::uint32_t common = statistical_common(vector.payload(), other.payload());
    const auto size = static_cast<std::uint32_t>(vector.size());
    return SparseVector::from(statistical_part(vector.payload(), size - common));
  }
  if (vector.size() == 0 || other.size() == 0) return vector;
  return filter_by_membership(vector, other, false);
}

SparseVector moved(const SparseVector& vector, std::int64_t by) {
  if (by == 0 || vector.size() == 0) return vector;
  if (vector.is_statistical()) return SparseVector::from(statistical_moved(vector.payload(), by));
  std::vector<Entry> entries(vector.entries().begin(), vector.entries().end());
  for (Entry& entry : entries) {
    entry.coordinate = static_cast<std::uint32_t>(entry.coordinate + by);
  }
  return SparseVector::trusted(std::move(entries));
}

bool equal(const SparseVector& a, const SparseVector& b) {
  if (a.payload() == b.payload()) return true;
  if (a.is_statistical() != b.is_statistical()) return false;
  if (a.is_statistical()) return statistical_equal(a.payload(), b.payload());
  return std::ranges::equal(a.entries(), b.entries());
}

void SparseAccumulator::add(SparseVector vector) {
  constexpr std::size_t kPutOff = 64;
  constexpr std::size_t kThin = 64;  // coordinates of the window for each entry
  if (vector.size() == 0) return;
  if (vector.is_statistical()) {
    statistical_.add(vector.payload());
    return;
  }
  put_off_entries_ += vector.size();
  put_off_.push_back(std::move(vector));
  const bool many = put_off_.size() >= kPutOff || put_off_.back().size() >= kPutOff;
  const bool worth_a_window = !window_.empty() || put_off_entries_ * kThin >= last_ - first_;
  if (many && worth_a_window) fill_window();
}

void SparseAccumulator::fill_window() {
  window_.resize(last_ - first_);
  touched_.resize((last_ - first_ + 63) / 64);
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < put_off_.size(); ++i) {
    if (i + kAhead < put_off_.size()) {
      prefetch_line(put_off_[i + kAhead].entries().data());
    }
    for (const Entry& entry : put_off_[i].entries()) {
      const std::uint32_t at = entry.coordinate - first_;
      window_[at] += entry.value;
      touched_[at / 64] |= std::uint64_t{1} << (at % 64);
    }
  }
  put_off_.clear();
  put_off_entries_ = 0;
}

SparseVector SparseAccumulator::finish() {
  if (!statistical_.empty()) return SparseVector::from(statistical_.finish(first_, last_));
  if (window_.empty()) {
    const std::vector<SparseVector> all = std::exchange(put_off_, {});
    put_off_entries_ = 0;
    return sum(all);
  }
  fill_window();
  SparseVector result = entries_of_window(first_, window_, touched_);
  window_.clear();
  touched_.clear();
  return result;
}

}  // namespace thinwire::inline gradient
