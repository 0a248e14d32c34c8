// Where compact routes keep the links of their middles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_set>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// Sequences of links one after the other, equal ones once.
class LinkPool {
 public:
  explicit LinkPool(std::vector<LinkIndex>& links)
      : links_(links), places_(1024, SameLinks{links}, SameLinks{links}) {}

  /// Where `sequence` begins.
  std::uint32_t place_of(std::span<const LinkIndex> sequence) {
    if (sequence.empty()) return 0;
    const auto found = places_.find(sequence);
    if (found != places_.end()) return found->begin;
    if (links_.size() + sequence.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw InputError("the routes between so many hosts are too many to be held");
    }
    const Place place{.begin = static_cast<std::uint32_t>(links_.size()),
                      .length = static_cast<std::uint32_t>(sequence.size())};
    links_.insert(links_.end(), sequence.begin(), sequence.end());
    places_.insert(place);
    return place.begin;
  }

 private:
  struct Place {
    std::uint32_t begin;
    std::uint32_t length;
  };
  /// Hash and equality of places, and of sequences that have none yet, by their links.
  struct SameLinks {
    using is_transparent = void;
    const std::vector<LinkIndex>& links;

    [[nodiscard]] std::span<const LinkIndex> of(Place place) const {
      return {links.data() + place.begin, place.length};
    }
    [[nodiscard]] static std::span<const LinkIndex> of(std::span<const LinkIndex> sequence) {
      return sequence;
    }
    std::size_t operator()(const auto& sequence) const {
      std::uint64_t hash = 0;
      for (const LinkIndex link : of(sequence)) hash = mix(hash ^ link);
      return hash;
    }
    bool operator()(const auto& a, const auto& b) const { return std::ranges::equal(of(a), of(b)); }
  };

  std::vector<LinkIndex>& links_;
  std::unordered_set<Place, SameLinks, SameLinks> places_;
};

}  // namespace thinwire::topologies
