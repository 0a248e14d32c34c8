#include "sim/core/gradient/reduction.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/stream.hpp"

namespace thinwire::inline gradient {

Summed Reduction::sum(const Message& a, const Message& b, Part part) const {
  Message message = compute_sum(a, b, part);
  const Seconds cost = work(a, b, message);
  return {std::move(message), cost};
}

Summed Reduction::shared_sum(const Message& a, const Message& b, Part part) const {
  const std::array inputs{a, b};
  Message message = shared_.once("sum", inputs, [&] { return compute_sum(a, b, part); });
  const Seconds cost = work(a, b, message);
  return {std::move(message), cost};
}

Message Reduction::join(std::span<const Message> parts, Part whole) const {
  if (parts.size() == 1) return parts.front();
  return shared_.once("join", parts, [&] { return compute_join(parts, whole); });
}

Message Reduction::join(const Concatenation& pieces, Part whole) const {
  if (pieces.pieces() == 1) return pieces.by_rank().front();
  const std::array inputs{pieces.message()};
  return shared_.once("join of pieces", pieces.contents(), inputs,
                      [&] { return compute_join(pieces.by_rank(), whole); });
}

Message GradientReduction::cut(const Message& held, PieceRange wanted, int pieces) const {
  const auto [begin, end] = components_of(wanted, pieces);
  const std::uint32_t first = space_.coordinate(begin);
  const std::uint32_t last = space_.coordinate(end);
  if (DenseBlock::holds(held.payload)) {
    return {DenseBlock::from(held.payload).slice(first, last).payload(), dense_words(begin, end)};
  }
  const SparseVector vector = SparseVector::from(held.payload);
  Message message =
      vector.slice(vector.position_of(first), vector.position_of(last)).message(space_);
  message.words += Words(format_.marker);
  return message;
}

bool GradientReduction::has_length_alone(const Message& value) const {
  return places_.empty() && format_.marker == 0 && space_.precision.value_bits % 32 == 0 &&
         DenseBlock::holds(value.payload) && DenseBlock::from(value.payload).is_valueless();
}

Message GradientReduction::compute_sum(const Message& a, const Message& b, Part part) const {
  const auto [begin, end] = components_of(part.range, part.of);
  const Stream result = thinwire::sum(stream_from(a.payload), stream_from(b.payload), space_, begin,
                                      end, format_.dense_above(space_.precision));
  Message message = message_of(result, space_);
  message.words += Words(format_.marker);
  // The pieces of a dense gradient are cut between components, finer than the carried granules.
  if (std::holds_alternative<DenseBlock>(result)) {
    const bool both = DenseBlock::holds(a.payload) && DenseBlock::holds(b.payload);
    message.words = both ? a.words : dense_words(begin, end);
  }
  return message;
}

Message GradientReduction::compute_join(std::span<const Message> parts, Part whole) const {
  Message joined;
  for (const Message& part : parts) joined.words += part.words - Words(format_.marker);
  joined.words += Words(format_.marker);
  const auto dense = std::ranges::count_if(
      parts, [](const Message& part) { return DenseBlock::holds(part.payload); });
  const auto coordinate = [&](int piece) { return space_.coordinate(begin_of(piece, whole.of)); };
  const std::uint32_t first = coordinate(whole.range.first);
  const std::uint32_t last = coordinate(whole.range.last);
  const auto valueless = [](const Message& part) {
    return DenseBlock::holds(part.payload) && DenseBlock::from(part.payload).is_valueless();
  };
  if (std::ranges::any_of(parts, valueless)) {
    joined.payload = DenseBlock::valueless(first, last).payload();
  } else if (std::cmp_equal(dense, parts.size())) {
    std::vector<DenseBlock> blocks;
    for (const Message& part : parts) blocks.push_back(DenseBlock::from(part.payload));
    joined.payload = concatenate(blocks).payload();
  } else if (dense > 0) {
    std::vector<float> values(last - first);
    for (const Message& part : parts) {
      if (DenseBlock::holds(part.payload)) {
        const DenseBlock block = DenseBlock::from(part.payload);
        std::ranges::copy(block.values(), values.begin() + (block.first() - first));
      } else {
        for (const Entry& entry : SparseVector::from(part.payload).entries()) {
          values[entry.coordinate - first] = entry.value;
        }
      }
    }
    joined.payload = DenseBlock(first, std::move(values)).payload();
  } else {
    std::vector<SparseVector> vectors;
    for (const Message& part : parts) vectors.push_back(SparseVector::from(part.payload));
    joined.payload = concatenate(vectors).payload();
  }
  return joined;
}

Seconds GradientReduction::work(const Message& a, const Message& b, const Message& sum) const {
  const auto words = [&](const Message& message) {
    return static_cast<double>(message.words.value() - format_.marker);
  };
  const auto entries = [&](const Message& sparse) {
    return words(sparse) / space_.precision.entry();
  };
  if (DenseBlock::holds(b.payload)) return gamma().word * words(b);
  if (DenseBlock::holds(a.payload)) return gamma().entry * entries(b);
  if (!DenseBlock::holds(sum.payload)) return gamma().merge * (entries(a) + entries(b));
  const DenseBlock block = DenseBlock::from(sum.payload);
  const std::int64_t components = space_.component(block.last()) - space_.component(block.first());
  return gamma().entry * (entries(a) + entries(b)) + gamma().zero * static_cast<double>(components);
}

Message NumbersReduction::cut(const Message& held, PieceRange wanted, int pieces) const {
  const Numbers list = Numbers::from(held.payload);
  const std::int64_t begin = part_begin(list.whole(), pieces, wanted.first);
  const std::int64_t end = part_begin(list.whole(), pieces, wanted.last);
  const auto first = list.all().begin() + (begin - list.first());
  return Numbers({first, first + (end - begin)}, begin, list.whole()).message();
}

Message NumbersReduction::compute_sum(const Message& a, const Message& b, Part /*part*/) const {
  return Numbers::sum(Numbers::from(a.payload), Numbers::from(b.payload)).message();
}

Message NumbersReduction::compute_join(std::span<const Message> parts, Part /*whole*/) const {
  const Numbers first = Numbers::from(parts.front().payload);
  std::vector<std::int64_t> joined;
  for (const Message& part : parts) {
    const auto numbers = Numbers::from(part.payload).all();
    joined.insert(joined.end(), numbers.begin(), numbers.end());
  }
  return Numbers(std::move(joined), first.first(), first.whole()).message();
}

}  // namespace thinwire::inline gradient
