// Messages that wait for others: messages of two ranks that cannot pass each other, in turns of the two
// directions; messages of one connection, in order; and messages of a rank that reaches few others at
// once.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// For each pair of ranks, the messages under way, which all go the same way, and those that wait.
/// Messages begin in the order in which they came.
class Turns {
 public:
  /// A message wants to leave. Returns false if it has to wait; leave() then returns it later.
  bool enter(TransferIndex message, Rank from, Rank to);
  /// A message that had entered is delivered. Returns the messages that enter now.
  std::vector<TransferIndex> leave(Rank from, Rank to);

 private:
  struct Waiting {
    TransferIndex message;
    bool upwards;  ///< to the higher rank
  };
  struct Pair {
    int under_way = 0;
    bool upwards = false;  ///< the way of those under way
    std::deque<Waiting> waiting;
  };
  std::unordered_map<std::uint64_t, Pair> pairs_;  ///< those with messages
};

/// For each ordered pair of ranks, the one message under way, and those that wait for it.
class Connections {
 public:
  /// A message wants to leave. Returns false if it has to wait; leave() then returns it later.
  bool enter(TransferIndex message, Rank from, Rank to);
  /// The message that had entered is delivered. Returns the one that enters now, if there is one.
  std::optional<TransferIndex> leave(Rank from, Rank to);

 private:
  std::unordered_map<std::uint64_t, std::deque<TransferIndex>> waiting_;  ///< of those in use
};

/// For each rank, the few ranks to which its messages are under way, and the messages that wait until
/// one of these ranks is free. Messages enter in the order in which they came, but a message to a rank
/// that is already being reached does not wait. Times are in seconds.
class Destinations {
 public:
  /// Each of `ranks` ranks reaches at most `limit` others at once.
  Destinations(int ranks, int limit)
      : limit_(static_cast<std::size_t>(limit)), senders_(static_cast<std::size_t>(ranks)) {}

  /// A message that has waited, and when it could leave at the earliest.
  struct Admitted {
    TransferIndex message;
    double since;
  };

  /// A message wants to leave at `time`. Returns false if it has to wait; admit() then returns it.
  bool enter(TransferIndex message, Rank from, Rank to, double time);
  /// A message that had entered is delivered, and acknowledged at `time`.
  void deliver(Rank from, Rank to, double time);
  /// When admit() is to be called for a rank, now or later, if that is earlier than it is already.
  std::optional<double> next_admission(Rank from, double now);
  /// The messages of a rank that enter at `time`, if that is what next_admission() has said last.
  std::vector<Admitted> admit(Rank from, double time);

 private:
  struct Destination {
    Rank rank;
    int under_way;
    double acknowledged;  ///< when its last message is acknowledged, if none is under way
  };
  struct Waiting {
    TransferIndex message;
    Rank to;
  };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Sender {
    std::vector<Destination> reached;
    std::deque<Waiting> waiting;
    double awaited = kNever;  ///< the time of the next admission
  };
  [[nodiscard]] Sender& sender(Rank rank) {
    return senders_[static_cast<std::size_t>(rank.value())];
  }
  /// The destination of a message to `to`, if it is reached at `time`; else nullptr.
  [[nodiscard]] static Destination* reached(Sender& sender, Rank to, double time);
  /// One that is free at `time`; nullptr if there is none.
  [[nodiscard]] Destination* free_one(Sender& sender, double time) const;

  std::size_t limit_;
  std::vector<Sender> senders_;  ///< by rank
};

}  // namespace thinwire::networks
