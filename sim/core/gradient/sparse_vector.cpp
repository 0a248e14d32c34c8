#include "sim/core/gradient/sparse_vector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/prefetch.hpp"
#include "sim/core/base/recycled_memory.hpp"
#include "sim/core/gradient/hash_parts.hpp"
#include "sim/core/gradient/kth_magnitude.hpp"

namespace thinwire::inline gradient {

namespace {

std::span<const Entry> entries_of(const Payload& payload);
Payload exact(std::vector<Entry> entries);

/// Room for so many entries, until it is asked for again: what will be a vector is written here first,
/// because its size is not known.
std::span<Entry> draft(std::size_t entries) {
  thread_local std::vector<Entry> room;
  if (room.size() < entries) room.resize(entries);
  return {room.data(), entries};
}
Payload exact(std::span<const Entry> entries) {
  return exact(std::vector<Entry>(entries.begin(), entries.end()));
}

/// Copies the entries for which `keep` is true. Without branches, since nobody can predict them.
template <class Keep>
Payload filter(const Payload& payload, Keep keep) {
  const auto all = entries_of(payload);
  const std::span<Entry> kept = draft(all.size());
  std::size_t count = 0;
  for (const Entry& entry : all) {
    kept[count] = entry;
    count += keep(entry) ? 1U : 0U;
  }
  if (count == all.size()) return payload;
  return exact(kept.first(count));
}

/// The touched coordinates of a window of sums that begins at `first`, as entries.
std::vector<Entry> entries_of_window(std::uint32_t first, std::span<const float> window,
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
  return entries;
}

/// The exact model: a sorted list of entries.
class ExactBody final : public SparseBody {
 public:
  explicit ExactBody(std::vector<Entry> entries)
      : SparseBody(false), given_(std::move(entries)), entries_(given_) {}
  ExactBody(std::size_t size, std::size_t room)
      : SparseBody(false), own_(make_recycled<Entry>(room)), entries_(own_.get(), size) {}

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] Entry* memory() const { return own_.get(); }

  [[nodiscard]] std::size_t position_of(const Payload& payload, std::uint32_t coordinate,
                                        std::size_t from) const override {
    const auto all = entries_of(payload);
    std::size_t stride = 1;
    while (from + stride < all.size() && all[from + stride].coordinate < coordinate) stride *= 2;
    const auto near = all.subspan(from, std::min(stride + 1, all.size() - from));
    const auto at = std::ranges::lower_bound(near, coordinate, {}, &Entry::coordinate);
    return from + static_cast<std::size_t>(at - near.begin());
  }
  [[nodiscard]] std::vector<std::uint32_t> positions_of(
      const Payload& payload, std::span<const std::int64_t> cuts) const override {
    std::vector<std::uint32_t> positions;
    positions.reserve(cuts.size());
    std::size_t position = 0;
    for (const std::int64_t cut : cuts) {
      position = ExactBody::position_of(payload, static_cast<std::uint32_t>(cut), position);
      positions.push_back(static_cast<std::uint32_t>(position));
    }
    return positions;
  }
  [[nodiscard]] std::vector<std::int64_t> coordinates_at(
      const Payload& payload, std::span<const std::size_t> positions) const override {
    const auto all = entries_of(payload);
    std::vector<std::int64_t> coordinates;
    coordinates.reserve(positions.size());
    for (const std::size_t position : positions) {
      coordinates.push_back(all[position].coordinate);
    }
    return coordinates;
  }
  [[nodiscard]] Payload sum(const Payload& a, const Payload& b) const override {
    const auto ea = entries_of(a);
    const auto eb = entries_of(b);
    const std::span<Entry> merged = draft(ea.size() + eb.size());
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
    return exact(merged.first(static_cast<std::size_t>(end - merged.begin())));
  }
  [[nodiscard]] Payload sum_within(const Payload& a, const Payload& b, std::uint32_t /*first*/,
                                   std::uint32_t /*last*/) const override {
    return sum(a, b);
  }
  [[nodiscard]] Payload sum(std::span<const SparseVector> vectors) const override {
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

    // The sum goes window by window, so that a window stays in cache while all vectors add to it.
    constexpr std::uint32_t kWindow = 1U << 16U;
    const std::size_t windows = (end - first) / kWindow + 1;
    if (windows * vectors.size() > 4 * count) {
      // The vectors are so sparse that finding entries would dominate the cost: halve and merge.
      const std::size_t half = vectors.size() / 2;
      if (half == 0) return vectors.front().payload();
      return gradient::sum(gradient::sum(vectors.first(half)), gradient::sum(vectors.subspan(half)))
          .payload();
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
      parts.push_back(SparseVector::trusted(
          entries_of_window(static_cast<std::uint32_t>(low), window, touched)));
    }
    return concatenate(parts).payload();
  }
  [[nodiscard]] Payload concatenation(std::span<const SparseVector> parts) const override {
    std::vector<Entry> all;
    all.reserve(std::accumulate(
        parts.begin(), parts.end(), std::size_t{0},
        [](std::size_t size, const SparseVector& part) { return size + part.size(); }));
    for (const SparseVector& part : parts) {
      all.insert(all.end(), part.entries().begin(), part.entries().end());
    }
    return exact(std::move(all));
  }
  [[nodiscard]] float kth_magnitude(const Payload& payload, std::int64_t k) const override {
    const auto all = entries_of(payload);
    if (k <= 0) return std::numeric_limits<float>::infinity();
    if (std::cmp_less(all.size(), k)) return 0.0F;
    return kth_magnitude_of(all, k);
  }
  [[nodiscard]] Payload at_least(const Payload& payload, float threshold) const override {
    return filter(payload, [&](const Entry& entry) { return std::abs(entry.value) >= threshold; });
  }
  [[nodiscard]] Payload largest(const Payload& payload, std::int64_t k) const override {
    const float threshold = ExactBody::kth_magnitude(payload, k);
    const auto above = std::ranges::count_if(
        entries_of(payload), [&](const Entry& entry) { return std::abs(entry.value) > threshold; });
    std::int64_t ties = k - above;
    return filter(payload, [&](const Entry& entry) {
      const float magnitude = std::abs(entry.value);
      return magnitude > threshold || (magnitude == threshold && ties-- > 0);
    });
  }
  [[nodiscard]] Payload largest_in_buckets(const Payload& payload,
                                           const Buckets& buckets) const override {
    const SparseVector vector = SparseVector::from(payload);
    std::vector<SparseVector> parts;
    std::size_t from = 0;
    for (std::int64_t first = 0; first < buckets.end; first += buckets.width) {
      const std::int64_t last = std::min(buckets.end, first + buckets.width);
      const std::size_t to = vector.position_of(static_cast<std::uint32_t>(last), from);
      parts.push_back(select_largest(vector.slice(from, to),
                                     buckets.share_before(last) - buckets.share_before(first)));
      from = to;
    }
    return concatenate(parts).payload();
  }
  [[nodiscard]] std::vector<bool> nonzero_blocks(
      const Payload& payload, const BlockSize& size,
      std::span<const std::uint32_t> /*like*/) const override {
    std::vector<bool> nonzero(size.count());
    for (const Entry& entry : entries_of(payload)) nonzero[entry.coordinate / size.width] = true;
    return nonzero;
  }
  [[nodiscard]] Payload in_blocks(const Payload& payload, const BlockSize& size,
                                  std::span<const std::uint32_t> blocks,
                                  std::uint32_t /*of*/) const override {
    const SparseVector vector = SparseVector::from(payload);
    std::vector<Entry> entries;
    std::size_t last = 0;
    for (const std::uint32_t block : blocks) {
      const std::size_t first = vector.position_of(size.begin(block), last);
      last = vector.position_of(size.begin(block + 1), first);
      const auto of_block = vector.entries().subspan(first, last - first);
      entries.insert(entries.end(), of_block.begin(), of_block.end());
    }
    return SparseVector::trusted(std::move(entries)).payload();
  }
  [[nodiscard]] Payload joined_blocks(std::span<const SparseVector> parts) const override {
    return ExactBody::sum(parts);
  }
  [[nodiscard]] Payload restricted(const Payload& payload, const Payload& other,
                                   bool to_common) const override {
    const auto own = entries_of(payload);
    const auto theirs = entries_of(other);
    const std::span<Entry> kept = draft(own.size());
    std::size_t count = 0;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < own.size() && j < theirs.size()) {
      const std::uint32_t mine = own[i].coordinate;
      const std::uint32_t next = theirs[j].coordinate;
      kept[count] = own[i];
      count += (to_common ? mine == next : mine < next) ? 1U : 0U;
      i += mine <= next ? 1U : 0U;
      j += next <= mine ? 1U : 0U;
    }
    if (!to_common) {
      for (; i < own.size(); ++i) kept[count++] = own[i];
    }
    if (count == own.size()) return payload;
    return exact(kept.first(count));
  }
  [[nodiscard]] Payload moved(const Payload& payload, std::int64_t by) const override {
    const auto all = entries_of(payload);
    std::vector<Entry> entries;
    entries.reserve(all.size());
    for (const Entry& entry : all) {
      entries.push_back({static_cast<std::uint32_t>(entry.coordinate + by), entry.value});
    }
    return exact(std::move(entries));
  }
  [[nodiscard]] std::vector<Payload> parts_by_hash(const Payload& payload,
                                                   int parts) const override {
    std::vector<std::vector<Entry>> lists(static_cast<std::size_t>(parts));
    for (const Entry& entry : entries_of(payload)) {
      lists[part_by_hash(entry.coordinate, parts)].push_back(entry);
    }
    std::vector<Payload> payloads;
    payloads.reserve(lists.size());
    for (std::vector<Entry>& list : lists) {
      list.shrink_to_fit();
      payloads.push_back(exact(std::move(list)));
    }
    return payloads;
  }
  [[nodiscard]] Payload joined_by_hash(std::span<const SparseVector> parts) const override {
    return sum(parts);  // they have no coordinate in common
  }
  [[nodiscard]] bool equal(const Payload& a, const Payload& b) const override {
    return std::ranges::equal(entries_of(a), entries_of(b));
  }

 private:
  std::vector<Entry> given_;
  RecycledArray<Entry> own_;
  std::span<const Entry> entries_;
};

std::span<const Entry> entries_of(const Payload& payload) {
  if (!payload.body) return {};
  const auto& body = static_cast<const SparseBody&>(*payload.body);
  if (body.is_statistical()) {
    throw SimulationError("a statistical gradient has no entries to look at");
  }
  return static_cast<const ExactBody&>(body).entries().subspan(payload.first,
                                                               payload.last - payload.first);
}

Payload exact(std::vector<Entry> entries) {
  if (entries.empty()) return {};
  const auto size = static_cast<std::uint32_t>(entries.size());
  return {make_ref<const ExactBody>(std::move(entries)), 0, size};
}

/// The model of the vectors that are not empty: they all have the same.
const SparseBody& model_of(std::span<const SparseVector> vectors) {
  const auto first = std::ranges::find_if(vectors, [](const auto& v) { return v.size() > 0; });
  return first == vectors.end() ? SparseVector().body() : first->body();
}

}  // namespace

const SparseBody& SparseVector::no_entries() {
  static const ExactBody kNone({});
  return kNone;
}

SparseVector SparseVector::checked(std::vector<Entry> entries) {
  const auto fall = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b) { return a.coordinate >= b.coordinate; });
  if (fall != entries.end()) {
    throw InputError("the coordinates of a sparse vector must increase, but {} follows {}",
                     fall[1].coordinate, fall[0].coordinate);
  }
  const auto odd = std::find_if(entries.begin(), entries.end(),
                                [](const Entry& entry) { return !std::isfinite(entry.value); });
  if (odd != entries.end()) {
    throw InputError("the value at coordinate {} is {}, but gradients must be finite",
                     odd->coordinate, odd->value);
  }
  return trusted(std::move(entries));
}

UnfilledVector SparseVector::unfilled(std::size_t size, std::size_t room) {
  auto body = make_ref<const ExactBody>(size, room);
  const std::span memory(body->memory(), room);
  return {SparseVector({Ref<const Body>(std::move(body)), 0, static_cast<std::uint32_t>(size)}),
          memory};
}

bool SparseVector::holds(const Payload& payload) {
  return dynamic_cast<const SparseBody*>(payload.body.get()) != nullptr;
}

SparseVector SparseVector::trusted(std::vector<Entry> entries) {
  return SparseVector(exact(std::move(entries)));
}

SparseVector SparseVector::from(const Payload& payload) { return SparseVector(payload); }

std::span<const Entry> SparseVector::entries() const { return entries_of(payload_); }

SparseVector SparseVector::slice(std::size_t first, std::size_t last) const {
  if (first == last) return {};
  return SparseVector({payload_.body, payload_.first + static_cast<std::uint32_t>(first),
                       payload_.first + static_cast<std::uint32_t>(last)});
}

std::size_t SparseVector::position_of(std::uint32_t coordinate, std::size_t from) const {
  return body().position_of(payload_, coordinate, from);
}

std::vector<std::uint32_t> SparseVector::positions_of(std::span<const std::int64_t> cuts) const {
  return body().positions_of(payload_, cuts);
}

std::vector<std::int64_t> SparseVector::coordinates_at(
    std::span<const std::size_t> positions) const {
  return body().coordinates_at(payload_, positions);
}

SparseVector sum(const SparseVector& a, const SparseVector& b) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  return SparseVector::from(a.body().sum(a.payload(), b.payload()));
}

SparseVector sum_within(const SparseVector& a, const SparseVector& b, std::uint32_t first,
                        std::uint32_t last) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  return SparseVector::from(a.body().sum_within(a.payload(), b.payload(), first, last));
}

SparseVector sum(std::span<const SparseVector> vectors) {
  return SparseVector::from(model_of(vectors).sum(vectors));
}

SparseVector concatenate(std::span<const SparseVector> parts) {
  if (parts.size() == 1) return parts.front();
  return SparseVector::from(model_of(parts).concatenation(parts));
}

float kth_magnitude(const SparseVector& vector, std::int64_t k) {
  return vector.body().kth_magnitude(vector.payload(), k);
}

SparseVector select_at_least(const SparseVector& vector, float threshold) {
  return SparseVector::from(vector.body().at_least(vector.payload(), threshold));
}

SparseVector select_largest_in(const SparseVector& vector, const Buckets& buckets) {
  return SparseVector::from(vector.body().largest_in_buckets(vector.payload(), buckets));
}

SparseVector select_largest(const SparseVector& vector, std::int64_t k) {
  return SparseVector::from(vector.body().largest(vector.payload(), k));
}

SparseVector intersect(const SparseVector& vector, const SparseVector& other) {
  if (vector.size() == 0 || other.size() == 0) return {};
  return SparseVector::from(vector.body().restricted(vector.payload(), other.payload(), true));
}

SparseVector without(const SparseVector& vector, const SparseVector& other) {
  if (vector.size() == 0 || other.size() == 0) return vector;
  return SparseVector::from(vector.body().restricted(vector.payload(), other.payload(), false));
}

SparseVector moved(const SparseVector& vector, std::int64_t by) {
  if (by == 0 || vector.size() == 0) return vector;
  return SparseVector::from(vector.body().moved(vector.payload(), by));
}

SparseVector scaled(const SparseVector& vector, float factor) {
  if (factor == 1 || vector.size() == 0 || vector.is_statistical()) return vector;
  std::vector<Entry> entries(vector.entries().begin(), vector.entries().end());
  for (Entry& entry : entries) entry.value *= factor;
  return SparseVector::trusted(std::move(entries));
}

bool equal(const SparseVector& a, const SparseVector& b) {
  if (a.payload() == b.payload()) return true;
  if (a.is_statistical() != b.is_statistical()) return false;
  return a.body().equal(a.payload(), b.payload());
}

void SparseAccumulator::add(SparseVector vector) {
  constexpr std::size_t kPutOff = 64;
  constexpr std::size_t kThin = 64;  // coordinates of the window per entry
  if (vector.size() == 0) return;
  if (vector.is_statistical()) {
    statistical_.add(vector.payload());
    return;
  }
  put_off_entries_ += vector.size();
  put_off_.push_back(std::move(vector));
  const bool many = put_off_.size() >= kPutOff || put_off_.back().size() >= kPutOff;
  const bool worth_a_window = window_ || put_off_entries_ * kThin >= last_ - first_;
  if (many && worth_a_window) fill_window();
}

void SparseAccumulator::fill_window() {
  if (!window_) {
    window_ = make_recycled<float>(last_ - first_);
    touched_.resize((last_ - first_ + 63) / 64);
  }
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < put_off_.size(); ++i) {
    if (i + kAhead < put_off_.size()) {
      prefetch_line(put_off_[i + kAhead].entries().data());
    }
    for (const Entry& entry : put_off_[i].entries()) {
      const std::uint32_t at = entry.coordinate - first_;
      const std::uint64_t bit = std::uint64_t{1} << (at % 64);
      const float before = (touched_[at / 64] & bit) != 0 ? window_[at] : 0.0F;
      window_[at] = before + entry.value;
      touched_[at / 64] |= bit;
    }
  }
  put_off_.clear();
  put_off_entries_ = 0;
}

SparseVector SparseAccumulator::finish() {
  if (!statistical_.empty()) return SparseVector::from(statistical_.finish(first_, last_));
  if (!window_) {
    const std::vector<SparseVector> all = std::exchange(put_off_, {});
    put_off_entries_ = 0;
    return sum(all);
  }
  fill_window();
  const std::span<const float> window(window_.get(), last_ - first_);
  SparseVector result = SparseVector::trusted(entries_of_window(first_, window, touched_));
  window_ = {};
  touched_.clear();
  return result;
}

}  // namespace thinwire::inline gradient
