// Which index each of SimGrid's links has.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/core/base/random.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// Looked up for each link of millions of routes: an open-addressing hash table, which is one cache
/// miss where a std::unordered_map is three.
class LinkIndexes {
 public:
  /// Gives `links` the indexes from 0 on, in their order.
  explicit LinkIndexes(std::span<const void* const> links = {})
      : entries_(std::bit_ceil(2 * links.size() + 1)) {
    LinkIndex index = 0;
    for (const void* link : links) entries_[find(link)] = {link, index++};
  }

  /// Throws std::out_of_range if the link was not given.
  [[nodiscard]] LinkIndex at(const void* link) const {
    const Entry& entry = entries_[find(link)];
    if (entry.link == nullptr) throw std::out_of_range("an unknown link");
    return entry.index;
  }

 private:
  struct Entry {
    const void* link = nullptr;  ///< nullptr: none
    LinkIndex index = 0;
  };

  /// The entry of a link, or the free one where it belongs.
  [[nodiscard]] std::size_t find(const void* link) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = mix(reinterpret_cast<std::uintptr_t>(link)) & mask;
    while (entries_[at].link != nullptr && entries_[at].link != link) at = (at + 1) & mask;
    return at;
  }

  std::vector<Entry> entries_;  ///< a power of two of them, at least half of them free
};

}  // namespace thinwire::topologies
