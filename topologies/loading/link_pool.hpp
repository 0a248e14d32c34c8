// Where compact routes keep their inner links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// Sequences of links one after the other, equal ones once. Millions of routes ask for theirs, so
/// places are found in an open-addressing hash table.
class LinkPool {
 public:
  explicit LinkPool(std::vector<LinkIndex>& links) : links_(links) {}

  /// Where `sequence` begins.
  std::uint32_t place_of(std::span<const LinkIndex> sequence) {
    if (sequence.empty()) return 0;
    const std::size_t at = find(sequence);
    if (places_[at].length > 0) return places_[at].begin;
    if (links_.size() + sequence.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw InputError("the routes between so many hosts are too many to be held");
    }
    const Place place{.begin = static_cast<std::uint32_t>(links_.size()),
                      .length = static_cast<std::uint32_t>(sequence.size())};
    links_.insert(links_.end(), sequence.begin(), sequence.end());
    places_[at] = place;
    if (2 * ++used_ > places_.size()) grow();
    return place.begin;
  }

 private:
  struct Place {
    std::uint32_t begin = 0;
    std::uint32_t length = 0;  ///< 0: none
  };

  [[nodiscard]] std::span<const LinkIndex> links_of(Place place) const {
    return {links_.data() + place.begin, place.length};
  }
  /// The entry of a sequence, or the free one where it belongs.
  [[nodiscard]] std::size_t find(std::span<const LinkIndex> sequence) const {
    std::uint64_t hash = 0;
    for (const LinkIndex link : sequence) hash = mix(hash ^ link);
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash & mask;
    while (places_[at].length > 0 && !std::ranges::equal(links_of(places_[at]), sequence)) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void grow() {
    std::vector<Place> old(2 * places_.size());
    old.swap(places_);
    for (const Place place : old) {
      if (place.length > 0) places_[find(links_of(place))] = place;
    }
  }

  std::vector<LinkIndex>& links_;
  std::vector<Place> places_ = std::vector<Place>(1024);  ///< a power of two of them
  std::size_t used_ = 0;
};

}  // namespace thinwire::topologies
