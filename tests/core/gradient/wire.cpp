// Messages as bytes and back. The oracles are the payloads themselves, and byte layouts written out
// by hand.
#include "sim/core/gradient/wire.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/block_batch.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/hash_bitmap.hpp"
#include "sim/core/gradient/hash_parts.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/packed_sparse.hpp"
#include "sim/core/gradient/quantiser.hpp"
#include "sim/core/gradient/sparse_values.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/gradients.hpp"

namespace thinwire::inline gradient {

namespace {

struct WireBytes {
  std::vector<std::byte> header;
  std::vector<std::byte> data;
};

WireBytes written(const Message& message) {
  OutgoingBytes out;
  GradientWire().write(message, out);
  WireBytes bytes{{out.header().begin(), out.header().end()}, {}};
  for (const auto part : out.data()) {
    bytes.data.insert(bytes.data.end(), part.begin(), part.end());
  }
  CHECK(std::cmp_equal(bytes.data.size(), out.data_bytes()));
  return bytes;
}

Message read_back(const WireBytes& bytes) {
  const auto incoming =
      GradientWire().read(bytes.header, static_cast<std::int64_t>(bytes.data.size()));
  std::size_t at = 0;
  for (const auto memory : incoming->data()) {
    REQUIRE(at + memory.size() <= bytes.data.size());
    std::memcpy(memory.data(), bytes.data.data() + at, memory.size());
    at += memory.size();
  }
  CHECK(at == bytes.data.size());
  return incoming->message();
}

/// Sends a message, checks that its words travel and no more, and returns what arrives.
Message sent(const Message& message) {
  const WireBytes bytes = written(message);
  CHECK(std::cmp_equal(bytes.data.size(), 4 * message.words.value()));
  Message arrived = read_back(bytes);
  CHECK(arrived.words == message.words);
  return arrived;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

bool same_block(const Payload& a, const Payload& b) {
  if (!DenseBlock::holds(a) || !DenseBlock::holds(b)) return false;
  const DenseBlock x = DenseBlock::from(a);
  const DenseBlock y = DenseBlock::from(b);
  return x.first() == y.first() && bits_of(x.values()) == bits_of(y.values());
}

bool same_vector(const Payload& a, const Payload& b) {
  return equal(SparseVector::from(a), SparseVector::from(b));
}

std::vector<std::uint32_t> words_of(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), 4 * words.size());
  return words;
}

SparseVector some_entries(std::size_t count) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back({static_cast<std::uint32_t>(3 * i + 1), 0.5F - static_cast<float>(i)});
  }
  return SparseVector::checked(std::move(entries));
}

constexpr GradientSpace kSpace{.components = 100, .granule = 1};

}  // namespace

TEST_CASE("Sparse vectors travel as coordinates and values, slices and padding too") {
  const SparseVector five = some_entries(5);
  CHECK(same_vector(sent(five.message(kSpace)).payload, five.payload()));
  for (std::size_t first = 0; first <= 5; ++first) {
    for (std::size_t last = first; last <= 5; ++last) {
      const SparseVector slice = five.slice(first, last);
      for (const std::int64_t marker : {0, 1, 2, 7, 40000}) {
        Message message = slice.message(kSpace);
        message.words += Words(marker);
        CHECK(same_vector(sent(message).payload, slice.payload()));
      }
    }
  }
  const SparseVector two = SparseVector::checked({{7, 1.5F}, {0xffffffffU, -0.0F}});
  const WireBytes bytes = written({two.payload(), Words(5)});
  CHECK(words_of(bytes.data) ==
        std::vector<std::uint32_t>{7, 0x3fc00000U, 0xffffffffU, 0x80000000U, 0});
  const SparseVector all = test::full_gradient(3000, 1, 1);
  const Message message = all.message({.components = 3000, .granule = 1});
  CHECK(same_vector(sent(message).payload, all.payload()));
}

TEST_CASE("A sparse message without room for values carries its coordinates alone") {
  const SparseVector five = some_entries(5);
  for (const std::int64_t words : {5, 6, 9}) {
    const SparseVector arrived = SparseVector::from(sent({five.payload(), Words(words)}).payload);
    REQUIRE(arrived.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(arrived.entries()[i] == Entry{five.entries()[i].coordinate, 0});
    }
  }
  OutgoingBytes out;
  CHECK_THROWS_AS(GradientWire().write({five.payload(), Words(4)}, out), SimulationError);
}

TEST_CASE("Coordinates and values in messages of their own become the vector again") {
  for (const std::size_t size : {0, 1, 9}) {
    const SparseVector vector = some_entries(size);
    const Words half(static_cast<std::int64_t>(size));
    const Payload values = SparseValues::of(vector);
    CHECK(same_vector(SparseValues::joined(vector, values).payload(), vector.payload()));
    const Message coordinates = sent({vector.payload(), half});
    const Message arrived = sent({values, half});
    const SparseVector joined =
        SparseValues::joined(SparseVector::from(coordinates.payload), arrived.payload);
    CHECK(same_vector(joined.payload(), vector.payload()));
  }
  const Payload values = sent({SparseValues::of(some_entries(3)), Words(3)}).payload;
  CHECK_THROWS_AS(static_cast<void>(SparseValues::joined(some_entries(2), values)),
                  SimulationError);
}

TEST_CASE("Dense blocks travel as their values, slices and padding too") {
  const DenseBlock block(10, {1.0F, -0.0F, 3.5F, 1e-42F});
  for (std::uint32_t first = 10; first <= 14; ++first) {
    for (std::uint32_t last = first; last <= 14; ++last) {
      for (const std::int64_t marker : {0, 1, 3}) {
        const DenseBlock slice = block.slice(first, last);
        const Message message{slice.payload(), Words(last - first + marker)};
        CHECK(same_block(sent(message).payload, slice.payload()));
      }
    }
  }
  CHECK(words_of(written({block.payload(), Words(4)}).data) ==
        std::vector<std::uint32_t>{0x3f800000U, 0x80000000U, 0x40600000U, 714});
  OutgoingBytes out;
  CHECK_THROWS_AS(GradientWire().write({block.payload(), Words(3)}, out), SimulationError);
}

TEST_CASE("The data of a payload in one piece is sent from its own memory and received into one") {
  const DenseBlock block = test::dense_gradient(50, 3);
  const DenseBlock slice = block.slice(10, 30);
  OutgoingBytes out;
  GradientWire().write({slice.payload(), Words(20)}, out);
  REQUIRE(out.data().size() == 1);
  CHECK(out.data()[0].data() == std::as_bytes(slice.values()).data());
  const auto incoming = GradientWire().read(out.header(), 80);
  REQUIRE(incoming->data().size() == 1);
  const std::byte* const memory = incoming->data()[0].data();
  std::memcpy(incoming->data()[0].data(), out.data()[0].data(), 80);
  const Message arrived = incoming->message();
  CHECK(std::as_bytes(DenseBlock::from(arrived.payload).values()).data() == memory);
}

TEST_CASE("Quantised values travel in their few bits and arrive to the last bit") {
  for (const int bits : {2, 4, 8}) {
    for (const std::uint32_t size : {1U, 31U, 1023U, 1024U, 1025U, 3000U}) {
      CAPTURE(bits);
      CAPTURE(size);
      const Quantiser quantiser{.bits = bits};
      const GradientSpace space{.components = size, .granule = 1};
      const DenseBlock block = quantiser.quantised(test::dense_gradient(size, 2), space, 5);
      REQUIRE(block.quantisation() != nullptr);
      const Message message{block.payload(), quantiser.words(size)};
      const Message arrived = sent(message);
      CHECK(same_block(arrived.payload, block.payload()));
      CHECK(same_block(sent(arrived).payload, block.payload()));  // on to the next rank
      CHECK(DenseBlock::from(arrived.payload).slice(0, 0).quantisation() == nullptr);
    }
  }
  // Zeros of both signs, and the smallest numbers that there are.
  const DenseBlock odd(0, {0.0F, -0.0F, 1e-45F, -1e-44F, 3e-45F});
  const Quantiser quantiser{.bits = 8, .bucket = 2};
  const DenseBlock block = quantiser.quantised(odd, {.components = 5, .granule = 1}, 1);
  CHECK(same_block(sent({block.payload(), quantiser.words(5)}).payload, block.payload()));
}

TEST_CASE("Packed sparse vectors travel as levels, and few bits an entry") {
  for (const std::int64_t chunk : {0, 8}) {
    SparsePacking packing{.chunk = chunk, .coordinates = 32, .bits = 2};
    // Three entries in each chunk.
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < 12; ++i) {
      entries.push_back({i / 3 * 8 + i % 3 * 2, i % 3 == 0 ? -2.5F : 4.0F});
    }
    Binned result = binned(SparseVector::checked(entries), 2);
    packing.levels = result.levels;
    const Message message{PackedSparse::of(result.vector, packing),
                          Words(SparsePacking::words(12, chunk, 2))};
    const Message arrived = sent(message);
    CHECK(equal(PackedSparse::vector(arrived.payload), result.vector));
    const Message again = sent(arrived);  // on to the next rank
    CHECK(equal(PackedSparse::vector(again.payload), result.vector));
    // Whatever byte of the header is changed, it is refused or another message.
    const WireBytes bytes = written(message);
    for (std::size_t at = 0; at < bytes.header.size(); ++at) {
      for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
        WireBytes changed = bytes;
        changed.header[at] = static_cast<std::byte>(value);
        try {
          static_cast<void>(read_back(changed));
        } catch (const SimulationError&) {
          continue;
        }
      }
    }
  }
  CHECK(sent({PackedSparse::of({}, {}), Words(0)}).words == Words(0));
}

TEST_CASE("Signs travel as a bit each and a scale") {
  std::vector<float> values;
  for (int i = 0; i < 70; ++i) values.push_back(i % 3 == 0 ? -0.25F : 0.25F);
  const DenseBlock block(0, values, {.bits = 1, .bucket = 70, .scales = {0.25F}});
  const Message message{block.payload(), Words(4)};
  CHECK(same_block(sent(message).payload, block.payload()));
  const std::vector<std::uint32_t> words = words_of(written(message).data);
  CHECK(words[0] == 0x49249249U);
  CHECK(words[3] == std::bit_cast<std::uint32_t>(0.25F));
}

TEST_CASE("Numbers travel in 32 bits each, with their place in the whole list") {
  for (const auto& numbers : {Numbers(std::vector<std::int64_t>{}), Numbers({0}),
                              Numbers({5, 0xffffffff, 0}), Numbers({7, 8}, 3, 9)}) {
    const Numbers arrived = Numbers::from(sent(numbers.message()).payload);
    CHECK(std::ranges::equal(arrived.all(), numbers.all()));
    CHECK(arrived.first() == numbers.first());
    CHECK(arrived.whole() == numbers.whole());
  }
  OutgoingBytes out;
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{1} << 32U}) {
    CHECK_THROWS_AS(GradientWire().write(Numbers({number}).message(), out), SimulationError);
  }
}

TEST_CASE("A message without a payload is zeros") {
  for (const std::int64_t words : {0, 1, 50000}) {
    const Message arrived = sent(test::empty_message(words));
    CHECK_FALSE(arrived.payload.body);
  }
  CHECK(words_of(written(test::empty_message(2)).data) == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("Concatenations travel with the ranks of their pieces, and nest") {
  const SparseVector vector = some_entries(4);
  const DenseBlock block = test::dense_gradient(6, 1);
  const auto left = Concatenation::join(Concatenation::of(Rank(3), vector.message(kSpace)),
                                        Concatenation::of(Rank(1), {block.payload(), Words(7)}));
  const auto inner = Concatenation::of(Rank(9), Numbers({4, 5}).message());
  const auto all = Concatenation::join(
      left, Concatenation::join(Concatenation::of(Rank(0), test::empty_message(0)),
                                Concatenation::of(Rank(2), inner.message())));
  const Concatenation arrived = Concatenation::from(sent(all.message()).payload);
  const auto pieces = arrived.in_order();
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[0].from == Rank(3));
  CHECK(same_vector(pieces[0].message.payload, vector.payload()));
  CHECK(pieces[1].from == Rank(1));
  CHECK(same_block(pieces[1].message.payload, block.payload()));
  CHECK(pieces[1].message.words == Words(7));
  CHECK(pieces[2].from == Rank(0));
  const auto nested = Concatenation::from(pieces[3].message.payload).in_order();
  REQUIRE(nested.size() == 1);
  CHECK(nested[0].from == Rank(9));
  CHECK(Numbers::from(nested[0].message.payload)[1] == 5);
  CHECK(arrived.first(2).pieces() == 2);
}

TEST_CASE("Blocks of a concatenation that follow one another are received as one") {
  std::vector<Concatenation::Piece> pieces;
  const DenseBlock whole = test::dense_gradient(40, 4);
  for (int i = 0; i < 4; ++i) {
    const auto first = static_cast<std::uint32_t>(10 * i);
    const DenseBlock block = whole.slice(first, first + 10);
    pieces.push_back({Rank(i), {block.payload(), Words(10)}});
  }
  std::swap(pieces[2], pieces[3]);
  OutgoingBytes out;
  GradientWire().write(Concatenation::of(pieces).message(), out);
  CHECK(out.data().size() == 3);
  CHECK(out.header().size() == 5 * GradientWire::kRecordBytes);
  const auto incoming = GradientWire().read(out.header(), 160);
  CHECK(incoming->data().size() == 3);
  const Message arrived = read_back(written(Concatenation::of(pieces).message()));
  const auto got = Concatenation::from(arrived.payload).in_order();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(same_block(got[i].message.payload, pieces[i].message.payload));
  }
}

TEST_CASE("A part by hash travels as its bitmap and its values") {
  const HashBitmap::Place place{.part = 1, .parts = 3, .coordinates = 100};
  const std::vector<std::uint32_t>& indexes = coordinates_by_hash(100, 3)[1];
  REQUIRE(indexes.size() > 5);
  const SparseVector part = SparseVector::checked({{indexes[0], 1.5F}, {indexes[5], -2.0F}});
  const std::int64_t bitmap = HashBitmap::words(static_cast<std::int64_t>(indexes.size()));
  const Message message{HashBitmap::of(part, place), Words(bitmap + 2)};
  const Message arrived = sent(message);
  CHECK(HashBitmap::place(arrived.payload) == place);
  CHECK(equal(HashBitmap::part(arrived.payload), part));
  const std::vector<std::uint32_t> words = words_of(written(message).data);
  CHECK(words[0] == 0b100001);
  CHECK(std::bit_cast<float>(words[static_cast<std::size_t>(bitmap)]) == 1.5F);
  const Message empty = sent({HashBitmap::of({}, place), Words(bitmap)});
  CHECK(HashBitmap::part(empty.payload).size() == 0);
  const Concatenation two =
      Concatenation::join(Concatenation::of(Rank(1), message), Concatenation::of(Rank(2), message));
  const Message both = sent(two.message());
  CHECK(equal(HashBitmap::part(Concatenation::from(both.payload).by_rank()[1].payload), part));
  // Records of a part that does not exist, or of more coordinates than there are bits.
  WireBytes bytes = written(message);
  bytes.header[8] = std::byte{3};
  CHECK_THROWS_AS(static_cast<void>(read_back(bytes)), SimulationError);
  bytes = written(message);
  bytes.header[26] = std::byte{1};
  CHECK_THROWS_AS(static_cast<void>(read_back(bytes)), SimulationError);
}

TEST_CASE("Blocks travel whole, with their numbers, and entries of value 0 arrive") {
  const BlockSize size{.width = 4, .coordinates = 10};
  const SparseVector entries = SparseVector::checked({{4, 0.0F}, {6, -1.5F}, {9, 2.0F}});
  const Message message{
      BlockBatch::of({.size = size,
                      .blocks = {{.number = 1, .next = 2}, {.number = 2, .next = BlockBatch::kEnd}},
                      .entries = entries}),
      Words(4 + 2 + 2 * BlockBatch::kBlockHeader)};
  const Message arrived = sent(message);
  const BlockBatch::Content& content = BlockBatch::content(arrived.payload);
  CHECK(content.size == size);
  CHECK(content.blocks == BlockBatch::content(message.payload).blocks);
  CHECK(equal(content.entries, entries));
  const std::vector<std::uint32_t> words = words_of(written(message).data);
  CHECK(words[0] == 1);
  CHECK(words[1] == 2);
  CHECK(std::bit_cast<float>(words[4]) == -1.5F);
  CHECK(words[6] == 2);
  CHECK(std::bit_cast<float>(words[9]) == 2.0F);
  // Of blocks that the space does not have, or that are empty.
  WireBytes bytes = written(message);
  bytes.data[0] = std::byte{200};
  CHECK_THROWS_AS(static_cast<void>(read_back(bytes)), SimulationError);
  bytes = written(message);
  bytes.header[28] = std::byte{0};
  CHECK_THROWS_AS(static_cast<void>(read_back(bytes)), SimulationError);
}

TEST_CASE("Bytes that are cut off or changed are refused, or are another message") {
  const auto all = Concatenation::join(Concatenation::of(Rank(1), some_entries(4).message(kSpace)),
                                       Concatenation::of(Rank(2), Numbers({4, 5}).message()));
  const WireBytes bytes = written(all.message());
  const auto length = static_cast<std::int64_t>(bytes.data.size());
  const auto read = [&](const std::vector<std::byte>& header, std::int64_t data) {
    static_cast<void>(GradientWire().read(header, data));
  };
  for (std::size_t size = 0; size < bytes.header.size(); ++size) {
    const std::vector<std::byte> part(bytes.header.begin(),
                                      bytes.header.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(read(part, length), SimulationError);
  }
  for (const std::int64_t other : {std::int64_t{0}, length - 1, length - 4, length + 4}) {
    CHECK_THROWS_AS(read(bytes.header, other), SimulationError);
  }
  std::vector<std::byte> longer = bytes.header;
  longer.resize(longer.size() + GradientWire::kRecordBytes);
  CHECK_THROWS_AS(read(longer, length), SimulationError);
  // Whatever byte is changed, no more memory is asked for than the data that comes.
  for (std::size_t at = 0; at < bytes.header.size(); ++at) {
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      WireBytes changed = bytes;
      changed.header[at] = static_cast<std::byte>(value);
      try {
        static_cast<void>(read_back(changed));
      } catch (const SimulationError&) {
        continue;
      }
    }
  }
}

TEST_CASE("What has no values has no bytes") {
  OutgoingBytes out;
  const Message statistical{statistical_all(0, 10), Words(20)};
  CHECK_THROWS_AS(GradientWire().write(statistical, out), SimulationError);
  const Message valueless{DenseBlock::valueless(0, 10).payload(), Words(10)};
  CHECK_THROWS_AS(GradientWire().write(valueless, out), SimulationError);
  test::BodyCount count;
  CHECK_THROWS_AS(GradientWire().write(test::counted_message(count, Words(3)), out),
                  SimulationError);
}

}  // namespace thinwire::inline gradient
