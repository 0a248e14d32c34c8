// The bytes of gradients: the wire formats of the papers, so that the data of a message is exactly
// Message::words words of 4 bytes.
//
// A record of kRecordBytes describes the payload, and is the header of the message. A concatenation
// has a record, and one more for each of its pieces. The data of each kind:
//   sparse        COO: for each entry its coordinate (32 bits) and its value (32 bits)
//   coordinates   of a sparse vector whose message has no room for values, which arrive as 0: who
//                 says that indexes alone are sent gets nothing else
//   values        of a sparse vector, whose coordinates another message has
//   dense         one float per component
//   quantised     codes of few bits and scales (pack_quantised)
//   packed        levels, and indexes and codes of few bits (pack_sparse)
//   numbers       32 bits each; a number that needs more is refused
//   bitmap        of a part by hash: a bit for each coordinate of the part, and the values
//   blocks        of each block its number, the next one's and its values (BlockBatch)
//   none          a message without a payload
// Where a message has more words than its payload needs, such as markers and the empty slots of a
// hash table, zeros travel. Numbers are in the byte order of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sim/core/base/recycled_memory.hpp"
#include "sim/core/kernel/wire_format.hpp"

namespace thinwire::inline gradient {

/// The wire formats of exact gradients whose granule is 1. Statistical values have none.
class GradientWire final : public WireFormat {
 public:
  static constexpr std::size_t kRecordBytes = 32;
  /// How much memory of payloads that are no longer needed is kept, for payloads that arrive and for
  /// sums: the bytes of a few large gradients. Else the system would have to provide them anew in each
  /// iteration.
  static constexpr std::int64_t kKeptBytes = std::int64_t{1} << 30U;

  GradientWire() { RecycledMemory::keep(kKeptBytes); }
  GradientWire(const GradientWire&) = delete;
  GradientWire& operator=(const GradientWire&) = delete;
  ~GradientWire() override = default;

  void write(const Message& message, OutgoingBytes& out) const override;
  [[nodiscard]] std::unique_ptr<IncomingBytes> read(std::span<const std::byte> header,
                                                    std::int64_t data_bytes) const override;
};

}  // namespace thinwire::inline gradient
