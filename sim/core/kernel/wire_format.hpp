// How messages become bytes, for networks that move real ones. A network does not look into
// payloads: it carries the header and the data that a WireFormat makes of a message, and hands them
// to the WireFormat of the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/kernel/message.hpp"

namespace thinwire::inline kernel {

/// The bytes of a word, the unit of Message::words.
inline constexpr std::int64_t kWordBytes = 4;

/// A message as bytes: a short header, and exactly Message::words words of data.
class OutgoingBytes {
 public:
  /// Removes everything and keeps the memory.
  void clear() {
    header_.clear();
    data_.clear();
    made_.clear();
    bytes_ = 0;
  }
  /// Adds bytes to the header, which copies them.
  void add_header(std::span<const std::byte> bytes) {
    header_.insert(header_.end(), bytes.begin(), bytes.end());
  }
  /// Adds bytes to the data, which does not copy them: they must outlive the transfer.
  void add_data(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    bytes_ += static_cast<std::int64_t>(bytes.size());
    if (!data_.empty() && data_.back().data() + data_.back().size() == bytes.data()) {
      data_.back() = {data_.back().data(), data_.back().size() + bytes.size()};
    } else {
      data_.push_back(bytes);
    }
  }
  /// Adds bytes to the data that live as long as this object, or until clear().
  void add_made(std::vector<std::byte> bytes) { add_data(made_.emplace_back(std::move(bytes))); }

  [[nodiscard]] std::span<const std::byte> header() const { return header_; }
  /// The data in order, in as few pieces as memory has.
  [[nodiscard]] std::span<const std::span<const std::byte>> data() const { return data_; }
  [[nodiscard]] std::int64_t data_bytes() const { return bytes_; }

 private:
  std::vector<std::byte> header_;
  std::vector<std::span<const std::byte>> data_;
  std::deque<std::vector<std::byte>> made_;
  std::int64_t bytes_ = 0;
};

/// A message whose header has arrived, and the memory for its data.
class IncomingBytes {
 public:
  IncomingBytes() = default;
  IncomingBytes(const IncomingBytes&) = delete;
  IncomingBytes& operator=(const IncomingBytes&) = delete;
  virtual ~IncomingBytes() = default;

  /// Where the data belongs, in order: mostly the memory of the message's body itself.
  [[nodiscard]] virtual std::span<const std::span<std::byte>> data() = 0;
  /// The message. To be called once, when all data has been written.
  [[nodiscard]] virtual Message message() = 0;
};

/// Converts messages to bytes and back. Sender and receiver have the same byte order.
class WireFormat {
 public:
  WireFormat() = default;
  WireFormat(const WireFormat&) = delete;
  WireFormat& operator=(const WireFormat&) = delete;
  virtual ~WireFormat() = default;

  /// Adds the bytes of a message to `out`, which refers to the memory of the message's body. Throws
  /// SimulationError if the payload does not fit into the words of the message, or has no bytes.
  virtual void write(const Message& message, OutgoingBytes& out) const = 0;
  /// Reads a header that belongs to `data_bytes` bytes of data. Throws SimulationError if it is not
  /// one that write() has made.
  [[nodiscard]] virtual std::unique_ptr<IncomingBytes> read(std::span<const std::byte> header,
                                                            std::int64_t data_bytes) const = 0;
};

}  // namespace thinwire::inline kernel
