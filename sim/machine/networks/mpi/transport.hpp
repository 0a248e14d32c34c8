// Moves messages as bytes between MPI processes, by non-blocking calls of one thread.
//
// A message is one MPI message as long as it fits into kShortBytes: a frame, the header of the wire
// format, and the data. If two such MPI messages hold it, its data begins in the first. Longer data
// follows in MPI messages of its own, sent from the memory of the payload and received into the
// memory of the new one, so that no byte is copied here; only a payload in many short pieces is
// packed first. Each strand has two communicators, one for frames and one for data. A frame's receive
// is posted when the program posts it; the data's receive, when the frame has come. The tag of data is a
// number that the frame says, so it does not matter in which order MPI completes the frames.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/wire_format.hpp"
#include "sim/machine/networks/mpi/process_network.hpp"

namespace thinwire::networks {

/// Whether MPI_Finalize is yet to come: communicators are freed before it, or by it.
[[nodiscard]] bool mpi_runs();

/// Sends, receives and started programs under way, and their completion.
class MpiTransport {
 public:
  /// The longest MPI message that holds a whole message.
  static constexpr std::size_t kShortBytes = 65000;
  /// What every message has in front of the header of the wire format.
  static constexpr std::size_t kFrameBytes = 24;

  /// The index of an operation under way.
  using Index = std::uint32_t;

  /// Duplicates `comm`, which all its processes do together.
  MpiTransport(MPI_Comm comm, const WireFormat& format);
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;
  ~MpiTransport();

  [[nodiscard]] Index send(Strand strand, Rank to, Tag tag, Message message);
  [[nodiscard]] Index receive(Strand strand, Rank from, Tag tag);
  /// An operation that complete_local() completes.
  [[nodiscard]] Index begin_local();
  void complete_local(Index index, Message message);

  [[nodiscard]] bool is_done(Index index) const { return operations_[index].done; }
  [[nodiscard]] bool is_receive(Index index) const {
    return operations_[index].kind == Kind::receive;
  }
  /// Lets the completion of an operation that is not done decrement `pending`.
  void watch(Index index, int& pending) { operations_[index].watcher = &pending; }
  /// Ends what watch() has begun.
  void forget(Index index) { operations_[index].watcher = nullptr; }
  /// The message of a complete operation, which ends with that.
  [[nodiscard]] Message take(Index index);

  /// Continues with what MPI has completed. If that is nothing, waits until there is something, or
  /// returns false. Throws DeadlockError if nothing is under way, or if a rank has waited for as
  /// long as the limit says.
  bool progress(bool wait);
  void wait_as(const WaitingSettings& waiting) { waiting_ = waiting; }

  // The end of a run.
  /// The messages sent to each rank since the last call of forget_counts(), by strand and rank, and
  /// the receives posted for the messages of each rank.
  [[nodiscard]] const std::vector<std::int64_t>& sent() const { return sent_; }
  [[nodiscard]] const std::vector<std::int64_t>& posted() const { return posted_; }
  void forget_counts();
  /// Waits for the end of the sends that nobody has waited for. Returns the number of receives that
  /// nobody has waited for.
  [[nodiscard]] std::size_t drain();

 private:
  enum class Kind : std::uint8_t { free, send, receive, local };
  enum class Stage : std::uint8_t { frame, header, data };
  struct Operation {
    Kind kind = Kind::free;
    Stage stage = Stage::frame;  ///< of a receive: what is being received
    Strand strand = Strand::main;
    bool done = false;
    bool scattered = false;  ///< the rest of the data of a receive is in `packed`
    std::size_t inside = 0;  ///< bytes of the data of a receive that came with the frame
    int pending = 0;         ///< MPI requests
    Rank peer;
    int* watcher = nullptr;
    Message message;
    OutgoingBytes outgoing;
    std::unique_ptr<IncomingBytes> incoming;
    std::unique_ptr<std::byte[]> brief;  ///< the MPI message with the frame  NOLINT(*-c-arrays)
    std::vector<std::byte> packed;
  };
  struct Frame;
  struct DataPiece {
    std::byte* memory;
    std::int64_t bytes;
  };

  [[nodiscard]] Index acquire(Kind kind, Strand strand, Rank peer);
  void release(Index index);
  void complete(Index index);
  void add_request(Index index, MPI_Request request);
  /// How many requests MPI has completed; they are in `completed_` and `statuses_`.
  int some_complete(bool wait);

  struct Pieces;
  /// The data of a message that is too long for one MPI message, and what the frame says of it.
  [[nodiscard]] static Pieces long_data(Operation& operation, Frame& frame);
  [[nodiscard]] static std::vector<DataPiece> pieces_of(Operation& operation);
  /// Takes the first bytes away from pieces, and returns them.
  [[nodiscard]] static std::vector<DataPiece> taken_from(std::vector<DataPiece>& pieces,
                                                         std::int64_t bytes);
  void continue_receive(Index index, std::int64_t bytes);
  void read_frame(Index index, std::int64_t bytes);
  /// `inside` is the first part of the data.
  void receive_data(Index index, std::span<const std::byte> header,
                    std::span<const std::byte> inside, const Frame& frame);
  /// Puts data in its place, from byte `begin` on.
  static void scatter(Operation& operation, std::span<const std::byte> bytes, std::size_t begin);

  [[nodiscard]] MPI_Comm frames(Strand strand) const {
    return comms_.at(2 * static_cast<std::size_t>(strand));
  }
  [[nodiscard]] MPI_Comm data(Strand strand) const {
    return comms_.at(2 * static_cast<std::size_t>(strand) + 1);
  }
  [[nodiscard]] std::size_t at(Strand strand, Rank peer) const {
    return static_cast<std::size_t>(strand) * size_ + static_cast<std::size_t>(peer.value());
  }

  const WireFormat& format_;
  std::array<MPI_Comm, 4> comms_{};
  std::size_t size_ = 0;
  int most_tag_ = 0;
  WaitingSettings waiting_;
  std::deque<Operation> operations_;  // a deque, so that MPI's addresses stay valid
  std::vector<Index> free_;
  std::vector<MPI_Request> requests_;
  std::vector<Index> owners_;  // of the requests
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> data_tags_;        // the last one, by strand and receiver
  std::vector<std::int64_t> sent_;    // by strand and rank
  std::vector<std::int64_t> posted_;  // likewise
};

}  // namespace thinwire::networks
