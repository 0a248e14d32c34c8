// Blocks of consecutive components, sent whole where one of them is not zero, each with the number of
// the block that its stream goes on with (OmniReduce, SIGCOMM 2021).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// An immutable, shared list of blocks, in order of their numbers.
class BlockBatch {
 public:
  /// The stream of a block has no further one.
  static constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

  /// A block that is sent, and the one that its stream has next.
  struct Block {
    std::uint32_t number = 0;
    std::uint32_t next = kEnd;

    friend bool operator==(const Block&, const Block&) = default;
  };
  /// The blocks, and the entries in all of them.
  struct Content {
    BlockSize size = {};
    std::vector<Block> blocks = {};
    SparseVector entries = {};
  };

  /// The words in front of a block's values: its number and the next one's.
  static constexpr std::int64_t kBlockHeader = 2;

  [[nodiscard]] static Payload of(Content content);
  /// Whether a payload is such a list.
  [[nodiscard]] static bool holds(const Payload& payload);
  [[nodiscard]] static const Content& content(const Payload& payload);

  /// For each block its number, the next one's and its values. A component without an entry is a
  /// zero with a sign, so that an entry of value 0 arrives. And back: throws SimulationError when the
  /// words are no such blocks.
  [[nodiscard]] static std::vector<std::uint32_t> encoded(const Payload& payload);
  [[nodiscard]] static Content decoded(const std::vector<std::uint32_t>& words, std::size_t blocks,
                                       BlockSize size);

 private:
  struct BatchBody;
};

}  // namespace thinwire::inline gradient
