#include "sim/core/gradient/packed_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <typeinfo>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline gradient {

namespace {

constexpr int kWordBits = 32;
constexpr double kBinnedDeviations = 6;  // of all bins together

int index_bits(std::int64_t chunk) {
  if (chunk == 0) return kWordBits;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(chunk) - 1));
}

/// The chunk of entry number `entry` of `count`: the first one with more entries before its end.
std::int64_t chunk_of(std::int64_t entry, std::int64_t count, const SparsePacking& packing) {
  const auto before = static_cast<std::uint64_t>(entry + 1);
  const auto all = static_cast<std::uint64_t>(count);
  const std::uint64_t last = (before * static_cast<std::uint64_t>(packing.coordinates) - 1) / all;
  return static_cast<std::int64_t>(last) / packing.chunk;
}

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint32_t>& words) : words_(words) {}
  void add(std::uint64_t value, int bits) {
    held_ |= value << static_cast<unsigned>(filled_);
    filled_ += bits;
    while (filled_ >= kWordBits) {
      words_.push_back(static_cast<std::uint32_t>(held_));
      held_ >>= static_cast<unsigned>(kWordBits);
      filled_ -= kWordBits;
    }
  }
  void finish() {
    if (filled_ > 0) words_.push_back(static_cast<std::uint32_t>(held_));
  }

 private:
  std::vector<std::uint32_t>& words_;
  std::uint64_t held_ = 0;
  int filled_ = 0;  // bits, below 32 between two calls
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::uint32_t> words) : words_(words) {}
  std::uint64_t take(int bits) {
    if (held_bits_ < bits) {
      const std::uint64_t word = next_ < words_.size() ? words_[next_++] : 0;
      held_ |= word << static_cast<unsigned>(held_bits_);
      held_bits_ += kWordBits;
    }
    const std::uint64_t value = held_ & ((std::uint64_t{1} << static_cast<unsigned>(bits)) - 1);
    held_ >>= static_cast<unsigned>(bits);
    held_bits_ -= bits;
    return value;
  }

 private:
  std::span<const std::uint32_t> words_;
  std::size_t next_ = 0;
  std::uint64_t held_ = 0;
  int held_bits_ = 0;
};

}  // namespace

struct PackedSparse::PackedBody final : Body {
  PackedBody(SparseVector v, SparsePacking p) : vector(std::move(v)), packing(std::move(p)) {}
  SparseVector vector;
  SparsePacking packing;
};

std::int64_t SparsePacking::words(std::int64_t count, std::int64_t chunk, int bits) {
  if (count == 0) return 0;
  return (std::int64_t{1} << static_cast<unsigned>(bits)) +
         (count * (index_bits(chunk) + bits) + kWordBits - 1) / kWordBits;
}

Payload PackedSparse::of(SparseVector vector, SparsePacking packing) {
  if (vector.size() == 0) return {};
  return {make_ref<const PackedBody>(std::move(vector), std::move(packing)), 0, 0};
}

bool PackedSparse::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(PackedBody);
}

SparseVector PackedSparse::vector(const Payload& payload) {
  if (!payload.body) return {};
  return static_cast<const PackedBody&>(*payload.body).vector;
}

const SparsePacking& PackedSparse::packing(const Payload& payload) {
  return static_cast<const PackedBody&>(*payload.body).packing;
}

Binned binned(const SparseVector& vector, int bits) {
  const auto entries = vector.entries();
  const auto bins = static_cast<std::size_t>(1) << static_cast<unsigned>(bits);
  double mean = 0;
  for (const Entry& entry : entries) mean += entry.value;
  mean /= std::max<double>(1, static_cast<double>(entries.size()));
  double squares = 0;
  for (const Entry& entry : entries) squares += (entry.value - mean) * (entry.value - mean);
  const double others = std::max<double>(1, static_cast<double>(entries.size()) - 1);
  double width = kBinnedDeviations * std::sqrt(squares / others) / static_cast<double>(bins);
  if (!(width > 0)) width = 1;
  const std::size_t middle = bins / 2;
  const auto bin_of = [&](float value) {
    const double place = std::nearbyint((value - mean) / width + static_cast<double>(middle));
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(bins - 1)));
  };
  std::vector<double> sums(bins);
  std::vector<double> counts(bins);
  for (const Entry& entry : entries) {
    sums[bin_of(entry.value)] += entry.value - mean;
    ++counts[bin_of(entry.value)];
  }
  Binned result;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double above = counts[bin] > 0 ? sums[bin] / counts[bin] : 0;
    result.levels.push_back(static_cast<float>(mean + above));
  }
  std::vector<Entry> rounded(entries.begin(), entries.end());
  for (Entry& entry : rounded) entry.value = result.levels[bin_of(entry.value)];
  result.vector = SparseVector::trusted(std::move(rounded));
  return result;
}

SparseVector filled(const SparseVector& vector, std::int64_t count, const SparsePacking& packing) {
  if (std::cmp_equal(vector.size(), count)) return vector;
  const auto entries = vector.entries();
  std::vector<Entry> all;
  auto next = entries.begin();
  for (std::int64_t first = 0; first < packing.coordinates; first += packing.chunk) {
    const std::int64_t last = std::min(packing.coordinates, first + packing.chunk);
    const std::int64_t wanted = count * last / packing.coordinates;
    const auto end =
        std::ranges::lower_bound(next, entries.end(), last, {},
                                 [](const Entry& entry) { return std::int64_t{entry.coordinate}; });
    std::int64_t missing = wanted - static_cast<std::int64_t>(all.size()) - (end - next);
    for (std::int64_t at = first; at < last && (missing > 0 || next != end); ++at) {
      if (next != end && std::cmp_equal(next->coordinate, at)) {
        all.push_back(*next++);
      } else if (missing > 0) {
        all.push_back({static_cast<std::uint32_t>(at), 0});
        --missing;
      }
    }
  }
  return SparseVector::trusted(std::move(all));
}

std::vector<std::uint32_t> pack_sparse(const SparseVector& vector, const SparsePacking& packing) {
  std::vector<std::uint32_t> words;
  for (const float level : packing.levels) words.push_back(std::bit_cast<std::uint32_t>(level));
  BitWriter writer(words);
  const auto count = static_cast<std::int64_t>(vector.size());
  std::int64_t number = 0;
  for (const Entry& entry : vector.entries()) {
    std::int64_t index = entry.coordinate;
    if (packing.chunk > 0) {
      index -= chunk_of(number++, count, packing) * packing.chunk;
      if (index < 0 || index >= packing.chunk) {
        throw SimulationError("a chunk has another number of entries than its share");
      }
    }
    const auto level = std::ranges::find(packing.levels, entry.value);
    if (level == packing.levels.end()) {
      throw SimulationError("{} is none of the levels", entry.value);
    }
    writer.add(static_cast<std::uint64_t>(index), index_bits(packing.chunk));
    writer.add(static_cast<std::uint64_t>(level - packing.levels.begin()), packing.bits);
  }
  writer.finish();
  return words;
}

std::vector<Entry> unpack_sparse(std::span<const std::uint32_t> words, std::int64_t count,
                                 SparsePacking& packing) {
  if (count == 0) return {};
  const std::size_t levels = std::size_t{1} << static_cast<unsigned>(packing.bits);
  for (const std::uint32_t word : words.first(levels)) {
    packing.levels.push_back(std::bit_cast<float>(word));
  }
  BitReader reader(words.subspan(levels));
  std::vector<Entry> entries;
  for (std::int64_t number = 0; number < count; ++number) {
    auto index = static_cast<std::int64_t>(reader.take(index_bits(packing.chunk)));
    if (packing.chunk > 0) index += chunk_of(number, count, packing) * packing.chunk;
    const auto code = static_cast<std::size_t>(reader.take(packing.bits));
    entries.push_back({static_cast<std::uint32_t>(index), packing.levels[code]});
  }
  return entries;
}

}  // namespace thinwire::inline gradient
