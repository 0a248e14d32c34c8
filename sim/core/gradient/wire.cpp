#include "sim/core/gradient/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/block_batch.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/hash_bitmap.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/packed_sparse.hpp"
#include "sim/core/gradient/quantiser.hpp"
#include "sim/core/gradient/sparse_values.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::inline gradient {

namespace {

enum class WireKind : std::uint8_t {
  none,
  sparse,
  coordinates,
  values,
  dense,
  quantised,
  numbers,
  concatenation,
  packed,
  bitmap,
  blocks
};

/// The description of a payload.
struct WireRecord {
  WireKind kind = WireKind::none;
  std::uint8_t bits = 0;  ///< quantised, packed: of a value
  std::uint16_t unused = 0;
  std::int32_t rank = 0;    ///< of a piece of a concatenation: whose it is
  std::uint32_t first = 0;  ///< dense: the first coordinate; packed: coordinates of a chunk;
                            ///< bitmap: which part it is of
  std::uint32_t count = 0;  ///< entries, values, numbers or pieces
  std::int64_t words = 0;   ///< of the message
  std::int64_t extra = 0;   ///< quantised: the bucket; packed: all coordinates; numbers: 32 bits
                            ///< each of first and whole; bitmap: likewise of the number of parts
                            ///< and of coordinates; blocks: of their width and of coordinates
};
static_assert(sizeof(WireRecord) == GradientWire::kRecordBytes);
static_assert(sizeof(Entry) == 8 && sizeof(float) == 4);

constexpr std::size_t kWord = static_cast<std::size_t>(kWordBytes);

// ---------------------------------------------------------------- writing

void add_zeros(std::int64_t words, OutgoingBytes& out) {
  static const std::array<std::byte, 1 << 16> kZeros{};
  auto left = static_cast<std::size_t>(words) * kWord;
  while (left > 0) {
    const std::size_t now = std::min(left, kZeros.size());
    out.add_data(std::span(kZeros).first(now));
    left -= now;
  }
}

std::uint32_t count_of(std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw SimulationError("{} elements are too many for one message", count);
  }
  return static_cast<std::uint32_t>(count);
}

std::uint32_t word_of(std::int64_t number) {
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) {
    throw SimulationError("the number {} is sent as a word, and does not fit into 32 bits", number);
  }
  return static_cast<std::uint32_t>(number);
}

/// Two words in one, and back.
std::int64_t packed(std::uint32_t high, std::uint32_t low) {
  return static_cast<std::int64_t>(std::uint64_t{high} << 32U | low);
}
std::pair<std::uint32_t, std::uint32_t> unpacked(std::int64_t both) {
  return {static_cast<std::uint32_t>(static_cast<std::uint64_t>(both) >> 32U),
          static_cast<std::uint32_t>(static_cast<std::uint64_t>(both) & 0xffffffffU)};
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

class WireWriter {
 public:
  explicit WireWriter(OutgoingBytes& out) : out_(out) {}

  void write(const Message& message, Rank rank) {
    WireRecord record{.rank = rank.value(), .words = message.words.value()};
    const Payload& payload = message.payload;
    if (!payload.body) return finish(record, 0);
    if (DenseBlock::holds(payload)) return write_dense(DenseBlock::from(payload), record);
    if (Numbers::holds(payload)) return write_numbers(Numbers::from(payload), record);
    if (Concatenation::holds(payload)) {
      return write_pieces(Concatenation::from(payload), record);
    }
    if (PackedSparse::holds(payload)) return write_packed(payload, record);
    if (HashBitmap::holds(payload)) return write_bitmap(payload, record);
    if (BlockBatch::holds(payload)) return write_blocks(payload, record);
    if (SparseValues::holds(payload)) return write_values(SparseValues::values(payload), record);
    if (SparseVector::holds(payload)) return write_sparse(SparseVector::from(payload), record);
    throw SimulationError("a payload of this kind has no bytes to be sent");
  }

 private:
  void add(const WireRecord& record) { out_.add_header(std::as_bytes(std::span(&record, 1))); }

  /// Ends a record whose payload takes so many words; zeros take the rest.
  void finish(const WireRecord& record, std::int64_t words) {
    add(record);
    check_room(record, words);
    add_zeros(record.words - words, out_);
  }
  static void check_room(const WireRecord& record, std::int64_t words) {
    if (words <= record.words) return;
    throw SimulationError("a payload of {} words is to be sent as {} words", words, record.words);
  }

  void write_sparse(const SparseVector& vector, WireRecord record) {
    if (vector.is_statistical()) {
      throw SimulationError("a statistical gradient has no values that could be sent");
    }
    const auto size = static_cast<std::int64_t>(vector.size());
    record.count = count_of(vector.size());
    if (size == 0) return finish(record, 0);
    if (2 * size <= record.words) {
      record.kind = WireKind::sparse;
      out_.add_data(std::as_bytes(vector.entries()));
      return finish(record, 2 * size);
    }
    check_room(record, size);
    record.kind = WireKind::coordinates;
    std::vector<std::uint32_t> coordinates;
    coordinates.reserve(vector.size());
    for (const Entry& entry : vector.entries()) coordinates.push_back(entry.coordinate);
    out_.add_made(bytes_of(coordinates));
    finish(record, size);
  }

  void write_packed(const Payload& payload, WireRecord record) {
    const SparsePacking& packing = PackedSparse::packing(payload);
    const SparseVector vector = PackedSparse::vector(payload);
    record.kind = WireKind::packed;
    record.bits = static_cast<std::uint8_t>(packing.bits);
    record.first = word_of(packing.chunk);
    record.count = count_of(vector.size());
    record.extra = packing.coordinates;
    const std::vector<std::uint32_t> words = pack_sparse(vector, packing);
    check_room(record, static_cast<std::int64_t>(words.size()));
    out_.add_made(bytes_of(words));
    finish(record, static_cast<std::int64_t>(words.size()));
  }

  void write_values(const std::vector<float>& values, WireRecord record) {
    record.kind = WireKind::values;
    record.count = count_of(values.size());
    out_.add_made(bytes_of(values));
    finish(record, record.count);
  }

  void write_bitmap(const Payload& payload, WireRecord record) {
    const HashBitmap::Place place = HashBitmap::place(payload);
    record.kind = WireKind::bitmap;
    record.first = place.part;
    record.count = count_of(HashBitmap::part(payload).size());
    record.extra = packed(place.parts, place.coordinates);
    const std::vector<std::uint32_t> words = HashBitmap::encoded(payload);
    out_.add_made(bytes_of(words));
    finish(record, static_cast<std::int64_t>(words.size()));
  }

  void write_blocks(const Payload& payload, WireRecord record) {
    const BlockBatch::Content& content = BlockBatch::content(payload);
    record.kind = WireKind::blocks;
    record.count = count_of(content.blocks.size());
    record.extra = packed(content.size.width, content.size.coordinates);
    const std::vector<std::uint32_t> words = BlockBatch::encoded(payload);
    out_.add_made(bytes_of(words));
    finish(record, static_cast<std::int64_t>(words.size()));
  }

  void write_dense(const DenseBlock& block, WireRecord record) {
    const auto values = block.values();
    record.first = block.first();
    record.count = count_of(values.size());
    const Quantisation* const how = block.quantisation();
    if (how == nullptr || std::cmp_greater_equal(record.words, values.size())) {
      record.kind = WireKind::dense;
      check_room(record, record.count);
      out_.add_data(std::as_bytes(values));
      return finish(record, record.count);
    }
    record.kind = WireKind::quantised;
    record.bits = static_cast<std::uint8_t>(how->bits);
    record.extra = how->bucket;
    const std::int64_t words = quantised_words(record.count, how->bits, how->bucket);
    check_room(record, words);
    std::vector<std::byte> bytes(static_cast<std::size_t>(words) * kWord);
    pack_quantised(values, *how, bytes);
    out_.add_made(std::move(bytes));
    finish(record, words);
  }

  void write_numbers(const Numbers& numbers, WireRecord record) {
    record.kind = WireKind::numbers;
    record.count = count_of(numbers.size());
    record.extra = packed(word_of(numbers.first()), word_of(numbers.whole()));
    std::vector<std::uint32_t> words;
    words.reserve(numbers.size());
    for (const std::int64_t number : numbers.all()) words.push_back(word_of(number));
    out_.add_made(bytes_of(words));
    finish(record, record.count);
  }

  void write_pieces(const Concatenation& all, WireRecord record) {
    record.kind = WireKind::concatenation;
    const std::vector<Concatenation::Piece> pieces = all.in_order();
    record.count = count_of(pieces.size());
    std::int64_t words = 0;
    for (const auto& piece : pieces) words += piece.message.words.value();
    if (words != record.words) {
      throw SimulationError("pieces of {} words together are to be sent as {} words", words,
                            record.words);
    }
    add(record);
    for (const auto& piece : pieces) write(piece.message, piece.from);
  }

  OutgoingBytes& out_;
};

// ---------------------------------------------------------------- reading

[[noreturn]] void refuse_bytes(const char* why) {
  throw SimulationError("the bytes that arrived are no message: {}", why);
}

/// A payload that is being received.
struct WireNode {
  WireRecord record;
  Payload payload = {};                   ///< whose memory is written directly, or else
  std::vector<std::uint32_t> words = {};  ///< what is converted when it has arrived
  std::vector<WireNode> pieces = {};
};

class WireReader final : public IncomingBytes {
 public:
  WireReader(std::span<const std::byte> header, std::int64_t data_bytes) : header_(header) {
    root_.record = next_record();
    if (root_.record.words < 0 || data_bytes % kWordBytes != 0 ||
        root_.record.words != data_bytes / kWordBytes) {
      refuse_bytes("its length differs from the length of its data");
    }
    read_pieces(root_, 0);
    if (!header_.empty()) refuse_bytes("its header is too long");
    prepare(root_);
  }

  [[nodiscard]] std::span<const std::span<std::byte>> data() override { return data_; }
  [[nodiscard]] Message message() override { return message_of_node(root_); }

 private:
  static constexpr int kDeepest = 16;  // concatenations of concatenations

  WireRecord next_record() {
    if (header_.size() < sizeof(WireRecord)) refuse_bytes("its header is cut off");
    WireRecord record;
    std::memcpy(&record, header_.data(), sizeof(record));
    header_ = header_.subspan(sizeof(record));
    check(record);
    return record;
  }

  static void check(const WireRecord& record) {
    if (record.words < 0) refuse_bytes("a length is negative");
    const std::int64_t count = record.count;
    std::int64_t least = count;
    switch (record.kind) {
      case WireKind::none:
        least = 0;
        break;
      case WireKind::sparse:
        least = 2 * count;
        break;
      case WireKind::quantised:
        if ((record.bits != 1 && record.bits != 2 && record.bits != 4 && record.bits != 8) ||
            record.extra < 1) {
          refuse_bytes("its quantisation is unknown");
        }
        least = (count * record.bits + 31) / 32 + (count - 1) / record.extra + (count > 0 ? 1 : 0);
        break;
      case WireKind::packed:
        if (record.bits < 1 || record.bits > 8 || record.extra < 1 ||
            record.extra > std::numeric_limits<std::uint32_t>::max() || count > record.extra) {
          refuse_bytes("its packing is unknown");
        }
        least = SparsePacking::words(count, record.first, record.bits);
        break;
      case WireKind::concatenation:
        if (count == 0) refuse_bytes("a concatenation has no pieces");
        least = 0;
        break;
      case WireKind::bitmap:
        check_bitmap(record);
        break;
      case WireKind::blocks:
        if (unpacked(record.extra).first == 0) refuse_bytes("its blocks are empty");
        break;
      case WireKind::coordinates:
      case WireKind::values:
      case WireKind::dense:
      case WireKind::numbers:
        break;
      default:
        refuse_bytes("its kind is unknown");
    }
    if (least > record.words) refuse_bytes("its payload is longer than the message");
    if (std::uint64_t{record.first} + record.count > std::numeric_limits<std::uint32_t>::max()) {
      refuse_bytes("its coordinates are beyond 32 bits");
    }
  }

  static void check_bitmap(const WireRecord& record) {
    constexpr std::uint32_t kMostParts = 1U << 20U;
    const auto [parts, coordinates] = unpacked(record.extra);
    if (parts <= record.first || parts > kMostParts) refuse_bytes("its part does not exist");
    // A part has about its share of the coordinates, and a bit for each.
    if (coordinates / parts / 64 > record.words) refuse_bytes("its bitmap is too short");
  }

  void read_pieces(WireNode& node, int depth) {
    if (node.record.kind != WireKind::concatenation) return;
    if (depth == kDeepest) refuse_bytes("its concatenations are nested too deep");
    if (node.record.count > header_.size() / sizeof(WireRecord)) {
      refuse_bytes("its header is cut off");
    }
    node.pieces.resize(node.record.count);
    std::int64_t left = node.record.words;
    for (WireNode& piece : node.pieces) {
      piece.record = next_record();
      if (piece.record.words > left) refuse_bytes("its pieces are longer than the whole");
      left -= piece.record.words;
      read_pieces(piece, depth + 1);
    }
    if (left != 0) refuse_bytes("its pieces are shorter than the whole");
  }

  void add_memory(std::span<std::byte> memory) {
    if (memory.empty()) return;
    if (!data_.empty() && data_.back().data() + data_.back().size() == memory.data()) {
      data_.back() = {data_.back().data(), data_.back().size() + memory.size()};
    } else {
      data_.push_back(memory);
    }
  }

  /// Provides the memory of a payload, zeros behind it included.
  void prepare(WireNode& node) {
    const WireRecord& record = node.record;
    const auto words = static_cast<std::size_t>(record.words);
    switch (record.kind) {
      case WireKind::sparse: {
        const auto [vector, memory] = SparseVector::unfilled(record.count, (words + 1) / 2);
        node.payload = vector.payload();
        add_memory(std::as_writable_bytes(memory).first(words * kWord));
        return;
      }
      case WireKind::dense: {
        const auto [block, memory] = DenseBlock::unfilled(record.first, record.count, words);
        node.payload = block.payload();
        add_memory(std::as_writable_bytes(memory));
        return;
      }
      case WireKind::concatenation:
        for (std::size_t i = 0; i < node.pieces.size();) {
          const std::size_t end = end_of_blocks(node.pieces, i);
          if (end > i) {
            prepare_blocks(std::span(node.pieces).subspan(i, end - i));
            i = end;
          } else {
            prepare(node.pieces[i++]);
          }
        }
        return;
      default:
        node.words.resize(words);
        add_memory(std::as_writable_bytes(std::span(node.words)));
    }
  }

  /// The end of the dense blocks, from piece `begin` on, that follow one another without a gap.
  static std::size_t end_of_blocks(const std::vector<WireNode>& pieces, std::size_t begin) {
    std::size_t end = begin;
    for (; end < pieces.size(); ++end) {
      const WireRecord& record = pieces[end].record;
      if (record.kind != WireKind::dense || record.words != record.count) break;
      if (end == begin) continue;
      const WireRecord& before = pieces[end - 1].record;
      if (std::uint64_t{before.first} + before.count != record.first) break;
    }
    return end;
  }

  /// Such blocks become parts of one, whose memory is received as a whole.
  void prepare_blocks(std::span<WireNode> pieces) {
    std::size_t size = 0;
    for (const WireNode& piece : pieces) size += piece.record.count;
    const auto [block, memory] = DenseBlock::unfilled(pieces.front().record.first, size, size);
    for (WireNode& piece : pieces) {
      const std::uint32_t first = piece.record.first;
      piece.payload = block.slice(first, first + piece.record.count).payload();
    }
    add_memory(std::as_writable_bytes(memory));
  }

  static Message message_of_node(WireNode& node) {
    const WireRecord& record = node.record;
    Message message{.payload = std::move(node.payload), .words = Words(record.words)};
    const auto count = static_cast<std::size_t>(record.count);
    switch (record.kind) {
      case WireKind::coordinates: {
        const auto [vector, memory] = SparseVector::unfilled(count, count);
        for (std::size_t i = 0; i < count; ++i) memory[i] = {node.words[i], 0.0F};
        message.payload = vector.payload();
        break;
      }
      case WireKind::values: {
        std::vector<float> values(count);
        if (count > 0) std::memcpy(values.data(), node.words.data(), count * kWord);
        message.payload = SparseValues::received(std::move(values));
        break;
      }
      case WireKind::bitmap: {
        const auto [parts, coordinates] = unpacked(record.extra);
        const HashBitmap::Place place{record.first, parts, coordinates};
        message.payload = HashBitmap::of(HashBitmap::decoded(node.words, count, place), place);
        break;
      }
      case WireKind::blocks: {
        const auto [width, coordinates] = unpacked(record.extra);
        message.payload = BlockBatch::of(
            BlockBatch::decoded(node.words, count, {.width = width, .coordinates = coordinates}));
        break;
      }
      case WireKind::quantised: {
        Quantisation how{.bits = record.bits, .bucket = record.extra, .scales = {}};
        std::vector<float> values(count);
        unpack_quantised(std::as_bytes(std::span(node.words)), how, values);
        message.payload = DenseBlock(record.first, std::move(values), std::move(how)).payload();
        break;
      }
      case WireKind::packed: {
        SparsePacking packing{
            .chunk = record.first, .coordinates = record.extra, .bits = record.bits};
        std::vector<Entry> entries = unpack_sparse(node.words, record.count, packing);
        const auto falls = [](const Entry& a, const Entry& b) {
          return a.coordinate >= b.coordinate;
        };
        if (std::ranges::adjacent_find(entries, falls) != entries.end()) {
          refuse_bytes("its coordinates do not increase");
        }
        message.payload =
            PackedSparse::of(SparseVector::trusted(std::move(entries)), std::move(packing));
        break;
      }
      case WireKind::numbers: {
        const auto [first, whole] = unpacked(record.extra);
        const auto end = node.words.begin() + static_cast<std::ptrdiff_t>(count);
        const Numbers numbers({node.words.begin(), end}, first, whole);
        message.payload = numbers.message().payload;
        break;
      }
      case WireKind::concatenation: {
        std::vector<Concatenation::Piece> pieces;
        pieces.reserve(count);
        for (WireNode& piece : node.pieces) {
          pieces.push_back({Rank(piece.record.rank), message_of_node(piece)});
        }
        message.payload = Concatenation::of(std::move(pieces)).message().payload;
        break;
      }
      case WireKind::none:
      case WireKind::sparse:
      case WireKind::dense:
        break;
    }
    return message;
  }

  std::span<const std::byte> header_;  // what is left of it
  WireNode root_;
  std::vector<std::span<std::byte>> data_;
};

}  // namespace

void GradientWire::write(const Message& message, OutgoingBytes& out) const {
  WireWriter(out).write(message, Rank(0));
}

std::unique_ptr<IncomingBytes> GradientWire::read(std::span<const std::byte> header,
                                                  std::int64_t data_bytes) const {
  return std::make_unique<WireReader>(header, data_bytes);
}

}  // namespace thinwire::inline gradient
