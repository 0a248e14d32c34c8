#include "sim/core/gradient/block_batch.hpp"

#include <bit>
#include <typeinfo>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline gradient {

struct BlockBatch::BatchBody final : Body {
  explicit BatchBody(Content c) : content(std::move(c)) {}
  Content content;
};

namespace {

constexpr std::uint32_t kNoEntry = std::bit_cast<std::uint32_t>(-0.0F);

}  // namespace

Payload BlockBatch::of(Content content) {
  return {make_ref<const BatchBody>(std::move(content)), 0, 0};
}

bool BlockBatch::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(BatchBody);
}

const BlockBatch::Content& BlockBatch::content(const Payload& payload) {
  return static_cast<const BatchBody&>(*payload.body).content;
}

std::vector<std::uint32_t> BlockBatch::encoded(const Payload& payload) {
  const Content& content = BlockBatch::content(payload);
  const auto entries = content.entries.entries();
  std::vector<std::uint32_t> words;
  std::size_t at = 0;
  for (const Block& block : content.blocks) {
    words.push_back(block.number);
    words.push_back(block.next);
    const std::uint32_t begin = content.size.begin(block.number);
    const std::uint32_t end = content.size.begin(block.number + 1);
    const std::size_t first = words.size();
    words.resize(first + (end - begin), kNoEntry);
    for (; at < entries.size() && entries[at].coordinate < end; ++at) {
      // Adding 0 takes the sign of a zero away.
      words[first + (entries[at].coordinate - begin)] =
          std::bit_cast<std::uint32_t>(entries[at].value + 0.0F);
    }
  }
  return words;
}

BlockBatch::Content BlockBatch::decoded(const std::vector<std::uint32_t>& words, std::size_t blocks,
                                        BlockSize size) {
  Content content{.size = size};
  std::vector<Entry> entries;
  std::size_t at = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    if (at + 2 > words.size()) throw SimulationError("a block of values is cut off");
    const Block block{.number = words[at], .next = words[at + 1]};
    at += 2;
    const bool in_order = content.blocks.empty() || content.blocks.back().number < block.number;
    if (block.number >= size.count() || !in_order) {
      throw SimulationError("a block of values has no place in the gradient");
    }
    const std::uint32_t begin = size.begin(block.number);
    const std::uint32_t end = size.begin(block.number + 1);
    if (at + (end - begin) > words.size()) throw SimulationError("a block of values is cut off");
    for (std::uint32_t coordinate = begin; coordinate < end; ++coordinate, ++at) {
      if (words[at] != kNoEntry) entries.push_back({coordinate, std::bit_cast<float>(words[at])});
    }
    content.blocks.push_back(block);
  }
  content.entries = SparseVector::trusted(std::move(entries));
  return content;
}

}  // namespace thinwire::inline gradient
