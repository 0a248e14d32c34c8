// The end of a message, as SimGrid tells it: it wakes strands and goes into a timeline.
#pragma once

#include <smpi/smpi.h>

#include <deque>
#include <map>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <utility>

#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// Wakes a strand that waits for messages and for work at once, which MPI cannot.
class Bell {
 public:
  /// Waits until it rings, but no longer than `time`. Returns whether it rang.
  bool wait_for(Seconds time) {
    waiting_ = true;
    const bool late = semaphore_->acquire_timeout(time.value());
    waiting_ = false;
    return !late;
  }
  void ring() {
    if (std::exchange(waiting_, false)) semaphore_->release();
  }

 private:
  bool waiting_ = false;
  simgrid::s4u::SemaphorePtr semaphore_ = simgrid::s4u::Semaphore::create(0);
};

/// A message that a timeline shows.
struct ShownMessage {
  double origin = 0;  ///< SimGrid's clock when the run began
  MessageTimes times{};
  bool ended = false;
};

/// Who learns of the end of a message. Its address is the send buffer that is passed to MPI, from
/// which no data is read, and which SimGrid's callback receives at the end of the transfer.
struct MessageEnd {
  Bell* sender = nullptr;
  Bell* receiver = nullptr;
  ShownMessage* shown = nullptr;  ///< null if no timeline shows it

  void tell() const {
    sender->ring();
    receiver->ring();
    if (shown == nullptr) return;
    shown->times.send_end = Seconds(simgrid::s4u::Engine::get_clock() - shown->origin);
    shown->times.receive_end = shown->times.send_end;
    shown->ended = true;
  }
};

/// A message without words travels as one byte, since SimGrid does not tell the end of a message
/// without bytes. No other message has one byte. It takes the time of none: smpi_links.hpp.
inline constexpr int kBytesOfEmpty = 1;

/// Makes SMPI tell the end of each message. All of them must be sent from a MessageEnd.
inline void tell_ends() {
  smpi_comm_set_copy_data_callback(
      [](smx_activity_t, void* sent, size_t) { static_cast<const MessageEnd*>(sent)->tell(); });
}

/// The messages of a run that a timeline shows. A transfer begins when its send and its receive
/// have both been posted.
class ShownMessages {
 public:
  ShownMessages(Timeline& timeline, double origin) : timeline_(timeline), origin_(origin) {}

  [[nodiscard]] Timeline& timeline() const { return timeline_; }
  [[nodiscard]] bool shows(Rank from, Rank to) const { return timeline_.shows(from, to); }

  /// Called when a message is posted.
  ShownMessage* sent(const MessageTimes& times, bool receive_is_posted) {
    ShownMessage& message = all_.emplace_back();
    message.origin = origin_;
    message.times = times;
    if (receive_is_posted) {
      begin(message, times.posted);
    } else {
      early_[key_of(times.from, times.to, times.strand, times.tag)].push_back(&message);
    }
    return &message;
  }
  /// Called when the receive of an early message is posted.
  void receive_posted(Rank from, Rank to, Strand strand, Tag tag, Seconds now) {
    std::deque<ShownMessage*>& early = early_.at(key_of(from, to, strand, tag));
    begin(*early.front(), now);
    early.pop_front();
  }
  /// Adds the messages that have arrived to the timeline.
  void show() const {
    for (const ShownMessage& message : all_) {
      if (message.ended) timeline_.add(message.times);
    }
  }

 private:
  using Key = std::tuple<Rank, Rank, Strand, Tag>;
  static Key key_of(Rank from, Rank to, Strand strand, Tag tag) { return {from, to, strand, tag}; }

  static void begin(ShownMessage& message, Seconds now) {
    message.times.send_begin = now;
    message.times.receive_begin = now;
  }

  Timeline& timeline_;
  double origin_;
  std::deque<ShownMessage> all_;  // a deque, so that addresses stay valid
  std::map<Key, std::deque<ShownMessage*>> early_;
};

}  // namespace thinwire::networks
