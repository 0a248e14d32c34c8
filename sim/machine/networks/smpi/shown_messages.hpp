// The times of the messages that a timeline shows.
#pragma once

#include <smpi/smpi.h>

#include <deque>
#include <map>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/core/kernel/timeline.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// The send buffer that is passed to MPI. No data is read from it. SimGrid's callback receives its
/// address at the end of the transfer, unless the message has no words.
struct Address {
  bool shown = false;  ///< whether a timeline shows the message, and therefore needs its end
  bool ended = false;
  double origin = 0;  ///< SimGrid's clock when the run began
  MessageTimes times{};

  void end(double clock) {
    if (!shown || std::exchange(ended, true)) return;
    times.send_end = Seconds(clock - origin);
    times.receive_end = times.send_end;
  }
};

/// The messages of a run that a timeline shows. A transfer begins when its send and its receive
/// have both been posted.
class ShownMessages {
 public:
  ShownMessages(Timeline& timeline, double origin) : timeline_(timeline), origin_(origin) {}

  [[nodiscard]] Timeline& timeline() const { return timeline_; }
  [[nodiscard]] bool shows(Rank from, Rank to) const { return timeline_.shows(from, to); }

  /// Called when a message is posted. `slot` is the slot of its receive, or kNoSlot if the receive
  /// has not been posted yet.
  Address* sent(const MessageTimes& times, SlotIndex slot) {
    Address& address = all_.emplace_back();
    address.shown = true;
    address.origin = origin_;
    address.times = times;
    if (slot == kNoSlot) {
      early_[key_of(times.from, times.to, times.strand, times.tag)].push_back(&address);
    } else {
      begin(address, slot, times.posted);
    }
    return &address;
  }
  /// Called when the receive of an early message is posted.
  void receive_posted(Rank from, Rank to, Strand strand, Tag tag, SlotIndex slot, Seconds now) {
    std::deque<Address*>& early = early_.at(key_of(from, to, strand, tag));
    begin(*early.front(), slot, now);
    early.pop_front();
  }
  /// Called when the receiver has waited for the receive in `slot`.
  void received(SlotIndex slot, double clock) {
    const auto found = receives_.find(slot);
    if (found == receives_.end()) return;
    found->second->end(clock);
    receives_.erase(found);
  }
  /// Adds the messages that have arrived to the timeline.
  void show() const {
    for (const Address& address : all_) {
      if (address.ended) timeline_.add(address.times);
    }
  }

 private:
  using Key = std::tuple<Rank, Rank, Strand, Tag>;
  static Key key_of(Rank from, Rank to, Strand strand, Tag tag) { return {from, to, strand, tag}; }

  void begin(Address& address, SlotIndex slot, Seconds now) {
    address.times.send_begin = now;
    address.times.receive_begin = now;
    receives_[slot] = &address;
  }

  Timeline& timeline_;
  double origin_;
  std::deque<Address> all_;  // a deque, so that addresses stay valid
  std::map<Key, std::deque<Address*>> early_;
  std::unordered_map<SlotIndex, Address*> receives_;
};

/// Makes SMPI record the end of each message of a run. All messages must be sent from an Address.
inline void note_ends() {
  smpi_comm_set_copy_data_callback([](smx_activity_t, void* sent, size_t) {
    static_cast<Address*>(sent)->end(simgrid::s4u::Engine::get_clock());
  });
}

}  // namespace thinwire::networks
