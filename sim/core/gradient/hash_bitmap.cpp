#include "sim/core/gradient/hash_bitmap.hpp"

#include <fmt/format.h>

#include <bit>
#include <typeinfo>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/hash_parts.hpp"

namespace thinwire::inline gradient {

struct HashBitmap::BitmapBody final : Body {
  BitmapBody(SparseVector p, Place w) : part(std::move(p)), place(w) {}
  SparseVector part;
  Place place;
};

namespace {

constexpr std::size_t kSlotsPerWord = 32;

const std::vector<std::uint32_t>& coordinates_of(HashBitmap::Place place) {
  return coordinates_by_hash(place.coordinates, static_cast<int>(place.parts))[place.part];
}

}  // namespace

Payload HashBitmap::of(SparseVector part, Place place) {
  return {make_ref<const BitmapBody>(std::move(part), place), 0, 0};
}

bool HashBitmap::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(BitmapBody);
}

SparseVector HashBitmap::part(const Payload& payload) {
  return static_cast<const BitmapBody&>(*payload.body).part;
}

HashBitmap::Place HashBitmap::place(const Payload& payload) {
  return static_cast<const BitmapBody&>(*payload.body).place;
}

std::vector<std::uint32_t> HashBitmap::encoded(const Payload& payload) {
  const SparseVector part = HashBitmap::part(payload);
  const std::vector<std::uint32_t>& coordinates = coordinates_of(place(payload));
  const auto bitmap =
      static_cast<std::size_t>(words(static_cast<std::int64_t>(coordinates.size())));
  std::vector<std::uint32_t> result(bitmap);
  result.reserve(bitmap + part.size());
  std::size_t at = 0;
  for (const Entry& entry : part.entries()) {
    while (at < coordinates.size() && coordinates[at] != entry.coordinate) ++at;
    if (at == coordinates.size()) {
      throw SimulationError("coordinate {} is outside the part that a hash bitmap covers",
                            entry.coordinate);
    }
    result[at / kSlotsPerWord] |= std::uint32_t{1} << (at % kSlotsPerWord);
    result.push_back(std::bit_cast<std::uint32_t>(entry.value));
  }
  return result;
}

SparseVector HashBitmap::decoded(const std::vector<std::uint32_t>& words, std::size_t values,
                                 Place place) {
  const std::vector<std::uint32_t>& coordinates = coordinates_of(place);
  const auto bitmap =
      static_cast<std::size_t>(HashBitmap::words(static_cast<std::int64_t>(coordinates.size())));
  std::vector<Entry> entries;
  entries.reserve(values);
  std::size_t value = bitmap;
  for (std::size_t word = 0; word < bitmap && word < words.size(); ++word) {
    for (std::uint32_t bits = words[word]; bits != 0; bits &= bits - 1) {
      const std::size_t at =
          word * kSlotsPerWord + static_cast<std::size_t>(std::countr_zero(bits));
      if (at >= coordinates.size() || value >= words.size()) break;
      entries.push_back({coordinates[at], std::bit_cast<float>(words[value++])});
    }
  }
  if (entries.size() != values) {
    throw SimulationError("a hash bitmap of {} bits came with {} values", entries.size(), values);
  }
  return SparseVector::trusted(std::move(entries));
}

}  // namespace thinwire::inline gradient
