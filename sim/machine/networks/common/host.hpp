// What a host adds to the time of a message, on the networks `alphabeta` and `links`.
#pragma once

#include <cstdint>

#include "sim/core/base/units.hpp"

namespace thinwire::networks {

/// The costs of a host that sends and receives messages. By default a host costs nothing and every
/// message waits for its receive without a handshake, as on SMPI.
///
/// The terms are those of LogGPS (Ino et al., PPoPP 2001), with the copying of eager messages and
/// with noise added.
struct HostCosts {
  /// LogGP's o, in seconds: processor time per message, on the sending and on the receiving side.
  Seconds overhead{0};
  /// Messages of up to this size begin before their receive is posted. With 0 none do.
  Bytes eager{0};
  /// Processor time, in seconds per word, to copy an eager message, on each side: into a buffer of
  /// the library, and out of one.
  Seconds eager_copy_per_word{0};
  /// Whether a message that waits for its receive is announced first: it begins a latency of its
  /// route after the receive has been posted and the announcement, which takes a latency too, has
  /// arrived.
  bool handshake = false;
  /// The mean, in seconds, of a random delay of each message at its sender, which is distributed
  /// exponentially. 0: none.
  Seconds noise{0};
  std::uint64_t seed = 1;  ///< of the random delays

  friend bool operator==(const HostCosts&, const HostCosts&) = default;
};

}  // namespace thinwire::networks
