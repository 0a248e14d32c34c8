// What a host adds to the time of a message, on the networks `alphabeta` and `links`.
#pragma once

#include <cstdint>

#include "sim/core/base/units.hpp"

namespace thinwire::networks {

/// The costs of a host that sends and receives messages. By default a host costs nothing and every
/// message waits for its receive without a handshake, as on SMPI.
///
/// The terms come from LogGPS (Ino et al., PPoPP 2001); the copying of eager messages and noise are
/// added.
struct HostCosts {
  /// LogGP's o, in seconds: processor time per message, on the sending and on the receiving side.
  Seconds overhead{0};
  /// Time, in seconds, that a message takes between processor and NIC on both sides, in addition to
  /// the latency of its route. Messages of one rank take it side by side.
  Seconds latency{0};
  /// Messages of up to this size begin before their receive is posted. With 0 none do.
  Bytes eager{0};
  /// Processor time, in seconds per word, to copy an eager message, on each side: into a buffer of
  /// the library, and out of one.
  Seconds eager_copy_per_word{0};
  /// Time, in seconds per word, that an eager message stays in buffers of the library and of the
  /// NIC. Messages of one rank stay there side by side.
  Seconds eager_per_word{0};
  /// Time, in seconds, in which the NIC fetches an eager message from the host's memory, if it is
  /// longer than `fetched_beyond`. Shorter ones come to the NIC with the request to send them.
  Seconds fetch{0};
  Bytes fetched_beyond{0};
  /// If positive, eager messages of up to this size are complete at their sender as soon as they
  /// are copied, since the library and the system keep them. What the rank sends next shares its
  /// port with them.
  Bytes buffered{0};
  /// If positive, eager messages of up to this size leave their rank one after the other, in the
  /// order in which a strand sends them, as the packets in the queue of a device do. Longer ones
  /// share the port.
  Bytes queued{0};
  /// If positive, an eager message that is longer is complete at its sender when its
  /// acknowledgement has returned, a latency after its delivery. The others are complete when they
  /// have left, unless they are buffered.
  Bytes inlined{0};
  /// Whether a message that waits for its receive is announced first: it begins a latency of its
  /// route after the receive has been posted and the announcement, which takes a latency too, has
  /// arrived.
  bool handshake = false;
  /// Time, in seconds, before the words of a message that is not eager leave, in addition to the
  /// latencies of the handshake: the library prepares the memory of both ends.
  Seconds handshake_time{0};
  /// If positive, messages of two ranks to each other that are longer, and not eager, do not pass
  /// each other: one way waits for the other.
  Bytes one_way{0};
  /// If positive, a rank's eager messages are under way to at most this many ranks at once. One to
  /// another rank leaves when all that are under way to one of these have been acknowledged, a
  /// latency after their delivery. Transports without a connection for each peer work like this: a
  /// queue pair of InfiniBand's Dynamically Connected transport serves one peer after the other.
  int destinations = 0;
  int destinations_beyond = 0;  ///< the most ranks that have no such limit
  /// On the network `links`, the time in seconds per word that a rank needs to send or to receive,
  /// whatever its NIC could carry.
  Seconds gap_per_word{0};
  /// The mean, in seconds, of a random delay of each message at its sender, which is distributed
  /// exponentially. 0: none.
  Seconds noise{0};
  std::uint64_t seed = 1;  ///< of the random delays

  [[nodiscard]] bool is_eager(Words words) const {
    return eager > Bytes(0) && to_bytes(words) <= eager;
  }
  [[nodiscard]] bool is_buffered(Words words) const {
    return is_eager(words) && buffered > Bytes(0) && to_bytes(words) <= buffered;
  }
  [[nodiscard]] bool is_queued(Words words) const {
    return is_eager(words) && queued > Bytes(0) && to_bytes(words) <= queued;
  }
  /// Whether the send of a message is complete when its acknowledgement has returned.
  [[nodiscard]] bool is_acknowledged(Words words) const {
    return is_eager(words) && inlined > Bytes(0) && to_bytes(words) > inlined &&
           !is_buffered(words);
  }
  [[nodiscard]] bool goes_one_way(Words words) const {
    return one_way > Bytes(0) && to_bytes(words) > one_way && !is_eager(words);
  }
  /// Whether the destinations of each of `ranks` ranks are limited.
  [[nodiscard]] bool limits_destinations(int ranks) const {
    return destinations > 0 && ranks > destinations_beyond;
  }
  /// Whether a message waits, on so many ranks, until its sender reaches its destination.
  [[nodiscard]] bool waits_for_destination(int ranks, Words words) const {
    return limits_destinations(ranks) && is_eager(words);
  }
  /// The processor time of a message at its sender, and again at its receiver, in seconds.
  [[nodiscard]] double processing(Words words) const {
    return overhead.value() + (is_eager(words) ? times(eager_copy_per_word, words) : 0);
  }
  /// The time, in seconds, that a message stays in buffers and is fetched.
  [[nodiscard]] double buffering(Words words) const {
    if (!is_eager(words)) return 0;
    const bool fetched = to_bytes(words) > fetched_beyond;
    return times(eager_per_word, words) + (fetched ? fetch.value() : 0);
  }

  friend bool operator==(const HostCosts&, const HostCosts&) = default;

 private:
  static double times(Seconds per_word, Words words) {
    return per_word.value() * static_cast<double>(words.value());
  }
};

}  // namespace thinwire::networks
