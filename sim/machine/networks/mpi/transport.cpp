#include "sim/machine/networks/mpi/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::networks {

namespace {

/// The most bytes of one MPI message, whose count is an int.
constexpr std::int64_t kLongestMpiMessage = std::int64_t{1} << 30U;
/// Data in more pieces than this, or in shorter ones on average, is packed.
constexpr std::size_t kMostPieces = 16;
constexpr std::int64_t kShortestPiece = 1 << 15;
/// The part of the data in the first MPI message is a multiple of so many bytes.
constexpr std::int64_t kAligned = 64;
constexpr auto kMostShort = static_cast<std::int64_t>(MpiTransport::kShortBytes);

}  // namespace

/// The beginning of every message. The lengths of `pieces` MPI messages with data follow, 8 bytes
/// each, then the header of the wire format, unless it comes apart, then the first part of the data.
struct MpiTransport::Frame {
  std::uint32_t header_bytes = 0;
  std::uint32_t header_apart = 0;  ///< 1: it comes in an MPI message of its own, before the data
  std::uint32_t pieces = 0;
  std::int32_t data_tag = 0;
  std::int64_t data_bytes = 0;
};

MpiTransport::MpiTransport(MPI_Comm comm, const WireFormat& format) : format_(format) {
  static_assert(sizeof(Frame) == kFrameBytes);
  for (MPI_Comm& own : comms_) MPI_Comm_dup(comm, &own);
  int size = 0;
  MPI_Comm_size(comm, &size);
  size_ = static_cast<std::size_t>(size);
  int* most = nullptr;
  int known = 0;
  MPI_Comm_get_attr(comms_[0], MPI_TAG_UB, static_cast<void*>(&most), &known);
  most_tag_ = known != 0 ? *most : 32767;  // what the standard guarantees
  data_tags_.assign(2 * size_, 0);
  forget_counts();
}

bool mpi_runs() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended == 0;
}

MpiTransport::~MpiTransport() {
  if (requests_.empty()) {
    if (!mpi_runs()) return;
    for (MPI_Comm& own : comms_) MPI_Comm_free(&own);
    return;
  }
  // A program has failed, and MPI may still write to the memory that it was given. So this memory stays
  // until the process ends, which is soon; without memory for `new` it ends here.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new)
  static_cast<void>(new std::deque<Operation>(std::move(operations_)));
}

void MpiTransport::forget_counts() {
  sent_.assign(2 * size_, 0);
  posted_.assign(2 * size_, 0);
}

MpiTransport::Index MpiTransport::acquire(Kind kind, Strand strand, Rank peer) {
  Index index = 0;
  if (free_.empty()) {
    index = static_cast<Index>(operations_.size());
    operations_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Operation& operation = operations_[index];
  operation.kind = kind;
  operation.stage = Stage::frame;
  operation.strand = strand;
  operation.peer = peer;
  if (kind != Kind::local && !operation.brief) {
    operation.brief =
        std::make_unique_for_overwrite<std::byte[]>(kShortBytes);  // NOLINT(*-c-arrays)
  }
  return index;
}

void MpiTransport::release(Index index) {
  Operation& operation = operations_[index];
  operation.kind = Kind::free;
  operation.done = false;
  operation.scattered = false;
  operation.watcher = nullptr;
  operation.message = {};
  operation.outgoing.clear();
  operation.incoming.reset();
  operation.packed = {};
  free_.push_back(index);
}

void MpiTransport::complete(Index index) {
  Operation& operation = operations_[index];
  operation.done = true;
  if (operation.watcher != nullptr) --*std::exchange(operation.watcher, nullptr);
}

Message MpiTransport::take(Index index) {
  Message message = std::move(operations_[index].message);
  const bool received = operations_[index].kind != Kind::send;
  release(index);
  return received ? std::move(message) : Message{};
}

MpiTransport::Index MpiTransport::begin_local() {
  return acquire(Kind::local, Strand::main, Rank(0));
}

void MpiTransport::complete_local(Index index, Message message) {
  operations_[index].message = std::move(message);
  complete(index);
}

void MpiTransport::add_request(Index index, MPI_Request request) {
  requests_.push_back(request);
  owners_.push_back(index);
  ++operations_[index].pending;
}

/// The data that does not follow the header in the first MPI message.
struct MpiTransport::Pieces {
  std::vector<DataPiece> apart;
  std::vector<DataPiece> inside;  ///< their first part, in the first MPI message
};

MpiTransport::Pieces MpiTransport::long_data(Operation& operation, Frame& frame) {
  const OutgoingBytes& out = operation.outgoing;
  const auto before = static_cast<std::int64_t>(kFrameBytes + out.header().size());
  Pieces pieces;
  if (before + out.data_bytes() <= kMostShort) return pieces;
  pieces.apart = pieces_of(operation);
  const auto lengths = static_cast<std::int64_t>(pieces.apart.size() * sizeof(std::int64_t));
  if (static_cast<std::int64_t>(kFrameBytes) + lengths > kMostShort) {
    throw SimulationError("{} bytes are too many for one message", out.data_bytes());
  }
  const std::int64_t room = (kMostShort - before - lengths) / kAligned * kAligned;
  frame.header_apart = before + lengths > kMostShort ? 1 : 0;
  // If the rest is short too, it need not wait for the receiver. Otherwise copying gains nothing.
  if (out.data_bytes() - room <= kMostShort) pieces.inside = taken_from(pieces.apart, room);
  frame.pieces = static_cast<std::uint32_t>(pieces.apart.size());
  return pieces;
}

MpiTransport::Index MpiTransport::send(Strand strand, Rank to, Tag tag, Message message) {
  if (tag.value() < 0 || tag.value() > most_tag_) {
    throw SimulationError("tag {} is not valid for MPI, whose tags are 0 to {}", tag.value(),
                          most_tag_);
  }
  const Index index = acquire(Kind::send, strand, to);
  Operation& operation = operations_[index];
  operation.message = std::move(message);
  OutgoingBytes& out = operation.outgoing;
  format_.write(operation.message, out);
  ++sent_[at(strand, to)];

  Frame frame{.header_bytes = static_cast<std::uint32_t>(out.header().size()),
              .data_bytes = out.data_bytes()};
  const auto [pieces, inside] = long_data(operation, frame);
  if (!pieces.empty() || !inside.empty() || frame.header_apart != 0) {
    int& data_tag = data_tags_[at(strand, to)];
    data_tag = data_tag == most_tag_ ? 0 : data_tag + 1;
    frame.data_tag = data_tag;
  }
  std::byte* next = operation.brief.get();
  const auto put = [&next](const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(next, from, bytes);
    next += bytes;
  };
  put(&frame, sizeof(frame));
  for (const DataPiece& piece : pieces) put(&piece.bytes, sizeof(piece.bytes));
  if (frame.header_apart == 0) put(out.header().data(), out.header().size());
  for (const DataPiece& piece : inside) put(piece.memory, static_cast<std::size_t>(piece.bytes));
  if (pieces.empty()) {
    for (const auto bytes : out.data()) put(bytes.data(), bytes.size());
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(operation.brief.get(), static_cast<int>(next - operation.brief.get()), MPI_BYTE,
            to.value(), tag.value(), frames(strand), &request);
  add_request(index, request);
  if (frame.header_apart != 0) {
    MPI_Isend(out.header().data(), static_cast<int>(out.header().size()), MPI_BYTE, to.value(),
              frame.data_tag, data(strand), &request);
    add_request(index, request);
  }
  // A send is complete when its receiver takes it, as sends of longer messages are. Otherwise the
  // next message of the rank would share the port with this one.
  const auto send_rest = inside.empty() ? MPI_Isend : MPI_Issend;
  for (const DataPiece& piece : pieces) {
    send_rest(piece.memory, static_cast<int>(piece.bytes), MPI_BYTE, to.value(), frame.data_tag,
              data(strand), &request);
    add_request(index, request);
  }
  return index;
}

std::vector<MpiTransport::DataPiece> MpiTransport::pieces_of(Operation& operation) {
  const OutgoingBytes& out = operation.outgoing;
  std::vector<std::span<const std::byte>> spans(out.data().begin(), out.data().end());
  const auto count = static_cast<std::int64_t>(spans.size());
  if (spans.size() > kMostPieces || (count > 1 && out.data_bytes() / count < kShortestPiece)) {
    operation.packed.reserve(static_cast<std::size_t>(out.data_bytes()));
    for (const auto bytes : spans) {
      operation.packed.insert(operation.packed.end(), bytes.begin(), bytes.end());
    }
    spans.assign(1, operation.packed);
  }
  std::vector<DataPiece> pieces;
  for (auto bytes : spans) {
    while (!bytes.empty()) {
      const std::size_t now = std::min(bytes.size(), static_cast<std::size_t>(kLongestMpiMessage));
      // MPI's sends take addresses of what they do not write, in the way of C.
      pieces.push_back({const_cast<std::byte*>(bytes.data()),  // NOLINT(*-const-cast)
                        static_cast<std::int64_t>(now)});
      bytes = bytes.subspan(now);
    }
  }
  return pieces;
}

std::vector<MpiTransport::DataPiece> MpiTransport::taken_from(std::vector<DataPiece>& pieces,
                                                              std::int64_t bytes) {
  std::vector<DataPiece> taken;
  auto next = pieces.begin();
  while (bytes > 0 && next != pieces.end()) {
    const std::int64_t now = std::min(bytes, next->bytes);
    taken.push_back({next->memory, now});
    next->memory += now;
    next->bytes -= now;
    bytes -= now;
    if (next->bytes == 0) ++next;
  }
  pieces.erase(pieces.begin(), next);
  return taken;
}

MpiTransport::Index MpiTransport::receive(Strand strand, Rank from, Tag tag) {
  const Index index = acquire(Kind::receive, strand, from);
  ++posted_[at(strand, from)];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(operations_[index].brief.get(), static_cast<int>(kShortBytes), MPI_BYTE, from.value(),
            tag.value(), frames(strand), &request);
  add_request(index, request);
  return index;
}

int MpiTransport::some_complete(bool wait) {
  const auto count = static_cast<int>(requests_.size());
  if (count == 0) throw DeadlockError("the rank waits, and nothing that it waits for is under way");
  completed_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int done = 0;
  if (wait && waiting_.limit == 0 && waiting_.pause == 0) {
    MPI_Waitsome(count, requests_.data(), &done, completed_.data(), statuses_.data());
    return done;
  }
  const double begin = MPI_Wtime();
  while (true) {
    MPI_Testsome(count, requests_.data(), &done, completed_.data(), statuses_.data());
    if (done != 0 || !wait) return done;
    if (waiting_.limit > 0 && MPI_Wtime() - begin > waiting_.limit) {
      throw DeadlockError("nothing has arrived for {} s", waiting_.limit);
    }
    if (waiting_.pause > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(waiting_.pause));
    }
  }
}

bool MpiTransport::progress(bool wait) {
  const int done = some_complete(wait);
  if (done == 0) return false;
  struct Done {
    Index owner;
    std::int64_t bytes;
  };
  std::array<Done, 8> few{};
  std::vector<Done> many;
  const auto number = static_cast<std::size_t>(done);
  std::span<Done> all(few);
  if (number > few.size()) {
    many.resize(number);
    all = many;
  }
  all = all.first(number);
  for (std::size_t i = 0; i < number; ++i) {
    const auto place = static_cast<std::size_t>(completed_[i]);
    all[i] = {.owner = owners_[place], .bytes = 0};
    const Operation& operation = operations_[owners_[place]];
    if (operation.kind == Kind::receive && operation.stage == Stage::frame) {
      int bytes = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
      all[i].bytes = bytes;
    }
  }
  // The places of what is complete are filled from the end.
  std::sort(completed_.begin(), completed_.begin() + done, std::greater<>());
  for (std::size_t i = 0; i < number; ++i) {
    const auto place = static_cast<std::size_t>(completed_[i]);
    requests_[place] = requests_.back();
    owners_[place] = owners_.back();
    requests_.pop_back();
    owners_.pop_back();
  }
  for (const Done& one : all) {
    Operation& operation = operations_[one.owner];
    if (--operation.pending > 0) continue;
    if (operation.kind == Kind::receive) {
      continue_receive(one.owner, one.bytes);
    } else {
      complete(one.owner);
    }
  }
  return true;
}

void MpiTransport::continue_receive(Index index, std::int64_t bytes) {
  Operation& operation = operations_[index];
  switch (operation.stage) {
    case Stage::frame:
      read_frame(index, bytes);
      return;
    case Stage::header: {
      Frame frame;
      std::memcpy(&frame, operation.brief.get(), sizeof(frame));
      const std::vector<std::byte> header = std::move(operation.packed);
      receive_data(index, header, {}, frame);
      return;
    }
    case Stage::data:
      if (operation.scattered) scatter(operation, operation.packed, operation.inside);
      operation.message = operation.incoming->message();
      complete(index);
  }
}

void MpiTransport::read_frame(Index index, std::int64_t bytes) {
  Operation& operation = operations_[index];
  const std::span<const std::byte> brief(operation.brief.get(), static_cast<std::size_t>(bytes));
  Frame frame;
  if (brief.size() < sizeof(frame)) throw SimulationError("a frame that arrived is cut off");
  std::memcpy(&frame, brief.data(), sizeof(frame));
  const std::size_t lengths = frame.pieces * sizeof(std::int64_t);
  const std::size_t header = frame.header_apart == 0 ? frame.header_bytes : 0;
  const std::size_t before = sizeof(frame) + lengths + header;
  if (frame.header_apart != 0 ? brief.size() != before : brief.size() < before) {
    throw SimulationError("a frame that arrived has another length than it says");
  }
  if (frame.header_apart != 0) {
    operation.stage = Stage::header;
    operation.packed.resize(frame.header_bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(operation.packed.data(), static_cast<int>(frame.header_bytes), MPI_BYTE,
              operation.peer.value(), frame.data_tag, data(operation.strand), &request);
    add_request(index, request);
    return;
  }
  receive_data(index, brief.subspan(sizeof(frame) + lengths, header), brief.subspan(before), frame);
}

void MpiTransport::receive_data(Index index, std::span<const std::byte> header,
                                std::span<const std::byte> inside, const Frame& frame) {
  Operation& operation = operations_[index];
  operation.stage = Stage::data;
  operation.incoming = format_.read(header, frame.data_bytes);
  operation.inside = inside.size();
  std::vector<std::int64_t> lengths(frame.pieces);
  if (frame.pieces > 0) {
    std::memcpy(lengths.data(), operation.brief.get() + sizeof(Frame),
                lengths.size() * sizeof(std::int64_t));
  }
  const std::int64_t apart = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (static_cast<std::int64_t>(inside.size()) + apart != frame.data_bytes) {
    throw SimulationError("the pieces of a message that arrives are not as long as the whole");
  }
  scatter(operation, inside, 0);
  if (frame.pieces == 0) {
    operation.message = operation.incoming->message();
    complete(index);
    return;
  }
  // Each piece goes straight to its place, if it lies in one piece there too.
  std::vector<DataPiece> pieces;
  const auto memory = operation.incoming->data();
  std::size_t span = 0;
  std::size_t offset = inside.size();
  for (const std::int64_t length : lengths) {
    while (span < memory.size() && offset >= memory[span].size()) {
      offset -= memory[span].size();
      ++span;
    }
    const auto bytes = static_cast<std::size_t>(length);
    if (span == memory.size() || bytes > memory[span].size() - offset) {
      operation.scattered = true;
      break;
    }
    pieces.push_back({memory[span].data() + offset, length});
    offset += bytes;
  }
  if (operation.scattered) {
    operation.packed.resize(static_cast<std::size_t>(apart));
    pieces.clear();
    std::byte* next = operation.packed.data();
    for (const std::int64_t length : lengths) {
      pieces.push_back({next, length});
      next += length;
    }
  }
  for (const DataPiece& piece : pieces) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(piece.memory, static_cast<int>(piece.bytes), MPI_BYTE, operation.peer.value(),
              frame.data_tag, data(operation.strand), &request);
    add_request(index, request);
  }
}

void MpiTransport::scatter(Operation& operation, std::span<const std::byte> bytes,
                           std::size_t begin) {
  for (const auto memory : operation.incoming->data()) {
    const std::size_t skipped = std::min(begin, memory.size());
    const std::size_t now = std::min(bytes.size(), memory.size() - skipped);
    if (now > 0) std::memcpy(memory.data() + skipped, bytes.data(), now);
    begin -= skipped;
    bytes = bytes.subspan(now);
  }
}

std::size_t MpiTransport::drain() {
  while (!requests_.empty()) progress(true);
  std::size_t left = 0;
  for (Index index = 0; index < operations_.size(); ++index) {
    const Kind kind = operations_[index].kind;
    if (kind == Kind::free) continue;
    left += kind == Kind::receive ? 1 : 0;
    release(index);
  }
  return left;
}

}  // namespace thinwire::networks
