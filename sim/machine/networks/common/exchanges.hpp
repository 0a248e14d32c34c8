// Exchanges of all ranks whose steps the event loop takes (Communicator::exchange). A message is
// known by its step, so it needs no mailbox, and a rank is not resumed for each.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "sim/core/base/prefetch.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/machine/networks/common/mailbox.hpp"

namespace thinwire::networks {

/// The sends and receives of an exchange have no slots. In place of a slot's index, they have the
/// index of their step, with bits that no index of a slot has.
struct StepSlot {
  static constexpr SlotIndex kOfExchange = SlotIndex{1} << 31U;
  static constexpr SlotIndex kSend = SlotIndex{1} << 30U;
  static constexpr SlotIndex kOdd = SlotIndex{1} << 29U;  ///< see Exchanges::Step

  [[nodiscard]] static SlotIndex of_receive(int step, bool odd) {
    return kOfExchange | (odd ? kOdd : 0) | static_cast<SlotIndex>(step);
  }
  [[nodiscard]] static SlotIndex of_send(int step, bool odd) {
    return kSend | of_receive(step, odd);
  }
  [[nodiscard]] static bool is(SlotIndex slot) {
    return slot != kNoSlot && (slot & kOfExchange) != 0;
  }
  [[nodiscard]] static bool is_send(SlotIndex slot) { return (slot & kSend) != 0; }
  [[nodiscard]] static bool is_odd(SlotIndex slot) { return (slot & kOdd) != 0; }
  [[nodiscard]] static int step(SlotIndex slot) {
    return static_cast<int>(slot & ~(kOfExchange | kSend | kOdd));
  }
};

/// The exchanges of the ranks' main strands. The n-th of a rank is with the n-th of the others.
class Exchanges {
 public:
  static constexpr double kPending = std::numeric_limits<double>::infinity();

  /// What a rank sends in a step that is under way.
  struct alignas(64) Sending {
    Message message;                       ///< until its receiver has posted the step
    TransferIndex transfer = kNoTransfer;  ///< of this message
    double sent = kPending;                ///< when the send is complete
  };
  /// What a rank receives in a step that is under way.
  struct alignas(64) Receiving {
    Message message;
    bool sent = false;           ///< whether the message is on its way
    double posted = 0;           ///< when the receive was posted
    double received = kPending;  ///< when the message is complete
  };
  /// A step of one of the exchanges of a rank. A rank is in the n-th exchange, or has left it, when
  /// another is in the next one, so it is enough to know whether n is odd.
  struct Step {
    Rank rank;
    int step;
    bool odd;
    friend bool operator<(const Step& a, const Step& b) {
      return std::tuple(a.rank.value(), a.step, a.odd) < std::tuple(b.rank.value(), b.step, b.odd);
    }
  };
  /// The exchange in which a rank is, or was last.
  struct alignas(64) OfRank {
    ExchangePart* part = nullptr;
    const void* read_next = nullptr;  ///< what its next message will read
    bool odd = false;                 ///< whether it is the first of the rank, the third, ...
    int steps = 0;
    int posted = 0;  ///< steps that have been posted
    int done = 0;    ///< steps that are over
    int under_way = 0;
    Tag tag;
    bool has_received = false;  ///< the message of step `done`; its send is waited for
  };

  /// Begins an exchange of so many ranks, of which up to `under_way` steps are under way at once.
  /// `ahead`: messages may depart before their receiver has posted the step.
  void begin(Rank rank, int ranks, ExchangePart& part, Tag tag, int under_way, bool ahead);
  [[nodiscard]] OfRank& of(Rank rank) { return ranks_[index(rank)]; }
  [[nodiscard]] const OfRank& of(Rank rank) const { return ranks_[index(rank)]; }
  [[nodiscard]] Sending& sending(Rank rank, int step) { return sending_[place(rank, step)]; }
  [[nodiscard]] Receiving& receiving(Rank rank, int step) { return receiving_[place(rank, step)]; }
  [[nodiscard]] const Receiving& receiving(Rank rank, int step) const {
    return receiving_[place(rank, step)];
  }
  [[nodiscard]] bool has_posted(const Step& at) const {
    const OfRank& its = of(at.rank);
    return its.odd == at.odd && its.posted > at.step;
  }
  /// Where the message of a step is on its way to a rank, and when it is complete. A message may
  /// depart before its receiver posts the step, or comes to the exchange.
  [[nodiscard]] Receiving& arriving(const Step& at) {
    return has_place(at) ? receiving(at.rank, at.step) : early_[at];
  }
  /// Ends the oldest step of a rank, whose place another step takes.
  void end_step(Rank rank) {
    OfRank& own = of(rank);
    receiving(rank, own.done) = {};
    sending(rank, own.done) = {};
    own.has_received = false;
    ++own.done;
    if (!early_.empty()) take_early({rank, own.done + static_cast<int>(places_) - 1, own.odd});
  }

  /// Completes what a rank sends or receives in a step. Returns whether the rank waits for it.
  [[nodiscard]] bool complete(Rank rank, SlotIndex slot, double time) {
    const bool send = StepSlot::is_send(slot);
    const Step at{rank, StepSlot::step(slot), StepSlot::is_odd(slot)};
    (send ? sending(rank, at.step).sent : arriving(at).received) = time;
    return waits_for(at, send);
  }
  [[nodiscard]] bool waits_for(const Step& at, bool send) const {
    const OfRank& its = of(at.rank);
    return its.odd == at.odd && its.done == at.step && its.has_received == send;
  }

  void prefetch(Rank rank) const { prefetch_line(&ranks_[index(rank)]); }
  /// Prefetches what a step has in place of a slot.
  void prefetch(Rank rank, SlotIndex slot) const {
    if (StepSlot::is_send(slot)) {
      prefetch_sending(rank, StepSlot::step(slot));
    } else {
      prefetch_receiving(rank, StepSlot::step(slot));
    }
  }
  void prefetch_sending(Rank rank, int step) const { prefetch_line(&sending_[place(rank, step)]); }
  void prefetch_receiving(Rank rank, int step) const {
    prefetch_line(&receiving_[place(rank, step)]);
  }

 private:
  /// Whether a rank that has not received the message of a step has a place for it.
  [[nodiscard]] bool has_place(const Step& at) const {
    const OfRank& its = of(at.rank);
    return its.odd == at.odd && at.step - its.done < static_cast<int>(places_);
  }
  void make_places(std::size_t ranks, std::size_t places);
  void take_early(const Step& at);
  [[nodiscard]] static std::size_t index(Rank rank) {
    return static_cast<std::size_t>(rank.value());
  }
  [[nodiscard]] std::size_t place(Rank rank, int step) const {
    return index(rank) * places_ + (static_cast<std::size_t>(step) & (places_ - 1));
  }

  std::size_t places_ = 1;  ///< for steps of a rank: a power of two
  std::vector<OfRank> ranks_;
  std::vector<Sending> sending_;      ///< places_ for each rank
  std::vector<Receiving> receiving_;  ///< likewise
  std::map<Step, Receiving> early_;   ///< steps of ranks that have no place for them yet
};

}  // namespace thinwire::networks
