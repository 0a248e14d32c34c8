// Where compact routes keep the links of their middles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

/// Sequences of up to kLongest links one after the other, equal ones once.
class LinkPool {
 public:
  static constexpr std::uint32_t kLongest = std::numeric_limits<std::uint8_t>::max();

  explicit LinkPool(std::vector<LinkIndex>& links) : links_(links), slots_(1024) {}

  /// Where `sequence` begins.
  std::uint32_t place_of(std::span<const LinkIndex> sequence) {
    if (sequence.empty()) return 0;
    if (2 * (used_ + 1) > slots_.size()) grow();
    const std::uint64_t hash = hash_of(sequence);
    Slot& slot = slot_of(sequence, hash);
    if (slot.length == 0) {
      if (links_.size() + sequence.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw InputError("the routes between so many hosts are too many to be held");
      }
      slot.begin = static_cast<std::uint32_t>(links_.size());
      slot.length = static_cast<std::uint32_t>(sequence.size()) & kLongest;
      slot.hash = part_of(hash) & 0xffffffU;
      links_.insert(links_.end(), sequence.begin(), sequence.end());
      ++used_;
    }
    return slot.begin;
  }

 private:
  struct Slot {
    std::uint32_t begin = 0;
    std::uint32_t length : 8 = 0;  ///< 0: free
    std::uint32_t hash : 24 = 0;   ///< a part of it, so that few slots need a look at their links
  };

  [[nodiscard]] static std::uint64_t hash_of(std::span<const LinkIndex> sequence) {
    std::uint64_t hash = sequence.size();
    for (const LinkIndex link : sequence) hash = mix(hash ^ link);
    return hash;
  }
  static constexpr std::uint32_t part_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 40U);
  }

  /// The slot that holds `sequence`, or the one to put it in.
  [[nodiscard]] Slot& slot_of(std::span<const LinkIndex> sequence, std::uint64_t hash) {
    for (std::size_t i = hash;; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.length == 0) return slot;
      if (slot.hash == part_of(hash) && std::ranges::equal(at(slot), sequence)) return slot;
    }
  }
  [[nodiscard]] std::span<const LinkIndex> at(const Slot& slot) const {
    return {links_.data() + slot.begin, slot.length};
  }

  void grow() {
    std::vector<Slot> before(4 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.length == 0) continue;
      const std::uint64_t hash = hash_of(at(slot));
      for (std::size_t i = hash;; ++i) {  // all are different
        Slot& free = slots_[i & (slots_.size() - 1)];
        if (free.length > 0) continue;
        free = slot;
        break;
      }
    }
  }

  std::vector<LinkIndex>& links_;
  std::vector<Slot> slots_;  ///< a power of two of them
  std::size_t used_ = 0;
};

}  // namespace thinwire::topologies
