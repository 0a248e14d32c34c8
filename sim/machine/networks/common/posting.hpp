// What a rank does when it posts, sums in switches and receives: it pays what its host takes for a
// message, and hands the message to the loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/core/base/random.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/host.hpp"
#include "sim/machine/networks/common/transfer.hpp"

namespace thinwire::networks {

/// A strand of a rank on the network of a `Loop`, which takes what it posts:
///   host()                                     what a host costs
///   kHasPlaces                                 whether the ranks have places on a platform
///   post(Posting, Message&&)                   a message; returns the slot of its send
///   post_in_step(from, to, step, Message&&, ready)   the same in a step of an exchange
///   switch_flows()                             take parts of collectives in switches
///   exclusive_ports()                          are told of receives and started programs
///   joint()                                    takes what ranks do together (joint.hpp)
///   release(transfer, time)                    lets a message depart, whose receive is posted
/// In a joint exchange and in joint rounds it posts nothing itself (joint_exchange.hpp,
/// joint_rounds.hpp).
template <class Loop>
class PostingRank final : public TimedRank {
 public:
  using TimedRank::TimedRank;
  using BothPosts = Both;

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    return send(to, tag, std::move(message), nullptr);
  }
  [[nodiscard]] Request isend_between(const Ends& ends, Rank to, Tag tag,
                                      Message message) override {
    return send(to, tag, std::move(message), Loop::kHasPlaces ? &ends : nullptr);
  }
  [[nodiscard]] Request irecv(Rank from, Tag tag) override {
    loop().exclusive_ports().post_receive(rank(), strand());
    const Request request = TimedRank::irecv(from, tag);
    Slot& slot = slots()[slot_of(request)];
    if (std::exchange(slot.held, false)) loop().release(slot.transfer, clock_);
    return request;
  }
  [[nodiscard]] Request post_in_switches(const Members& members, InSwitches part) override {
    clock_ += loop().host().processing(part.message.words) + noise();
    books().sent(part.message.words);
    const SlotIndex slot = slots().acquire(rank(), part.tag);
    loop().switch_flows().post(rank(), strand(), members, std::move(part), slot, clock_);
    return receive_request(slot);
  }

  /// The random delay of the next message, in seconds.
  [[nodiscard]] double noise() {
    const HostCosts& host = loop().host();
    if (host.noise == Seconds(0)) return 0;
    const auto stream =
        2 * static_cast<std::uint64_t>(rank().value()) + (strand() == Strand::main ? 0 : 1);
    return -host.noise.value() *
           std::log1p(-to_unit(random_bits(host.seed, stream, delayed_++, kNoise)));
  }
  /// A rank sends a message. Returns when the message can depart.
  [[nodiscard]] double sends(Words words) { return prepare_to_send(words); }
  /// Both of a sendrecv() are complete, at `last`.
  void takes_both(Words words, double last) {
    clock_ = std::max(clock_, last);
    books().received(words);
    take_in(words, last);
  }
  /// What a rank posted since that time; what is complete was paired (paired_posts.hpp).
  [[nodiscard]] Request receive_since(double posted, Rank from, Tag tag) {
    const double now = std::exchange(clock_, posted);
    const Request request = irecv(from, tag);
    clock_ = now;
    return request;
  }
  [[nodiscard]] Request received_at(double time, Rank from, Tag tag, Message&& message) {
    const SlotIndex index = slots().acquire(from, tag);
    Slot& slot = slots()[index];
    slot.message = std::move(message);
    slot.arrived = true;
    slot.stamp = time;
    return receive_request(index);
  }
  [[nodiscard]] Request send_since(double ready, double sent, Rank to, Tag tag, Message&& message) {
    if (std::isfinite(sent)) return timed_request(sent);
    return slot_request(
        loop().post({.from = rank(), .to = to, .strand = strand(), .tag = tag, .ready = ready},
                    std::move(message)));
  }
  void park_both(const Both& both, std::coroutine_handle<> waiting) {
    park(both.requests, waiting);
  }
  /// It goes on at `end`, when it has sent and received all that it takes part in.
  void goes_on(double end, const Traffic& traffic) {
    clock_ = end;
    books().add(traffic);
  }

 protected:
  void post_both(Both& both, Rank to, Message message, Rank from, Tag tag) override {
    if (!loop().exclusive_ports().is_clear(rank())) {
      return TimedRank::post_both(both, to, std::move(message), from, tag);
    }
    check_peer(*this, from);
    check_peer(*this, to);
    loop().joint().pairs.post(*this, both, to, std::move(message), from, tag);
  }
  void park_paired(Both& /*both*/, std::coroutine_handle<> waiting) override {
    loop().joint().pairs.park(*this, waiting);
  }
  Request start_program(StartedProgram program) override {
    loop().exclusive_ports().share(rank());
    return TimedRank::start_program(std::move(program));
  }
  [[nodiscard]] bool departs_early() const override { return loop().host().eager > Bytes(0); }
  void send_in_step(Rank to, const Exchanges::OfRank& own, Message&& message) override {
    const double ready = prepare_to_send(message.words);
    loop().post_in_step(rank(), to, own, std::move(message), ready);
  }
  void release_held(TransferIndex held) override { loop().release(held, clock_); }
  void take_in(Words words, double /*stamp*/) override {
    clock_ += loop().host().processing(words);
  }
  Message finish(Request request) override {
    Message message = TimedRank::finish(request);
    if (is_receive(request)) clock_ += loop().host().processing(message.words);
    return message;
  }

 private:
  [[nodiscard]] Request send(Rank to, Tag tag, Message&& message, const Ends* ends) {
    check_peer(*this, to);
    const double ready = prepare_to_send(message.words);
    return slot_request(loop().post(
        {.from = rank(), .to = to, .strand = strand(), .tag = tag, .ready = ready, .ends = ends},
        std::move(message)));
  }
  /// Pays what a message costs its sender. Returns when it can depart.
  [[nodiscard]] double prepare_to_send(Words words) {
    clock_ += loop().host().processing(words) + noise();
    books().sent(words);
    return clock_ + loop().host().buffering(words);
  }
  /// The loop, by the reference that is in the rank's first cache line.
  [[nodiscard]] Loop& loop() const { return static_cast<Loop&>(LoopRank::loop()); }

  static constexpr std::uint64_t kNoise = 0x6e6f697365;  // apart from what else is drawn
  std::uint64_t delayed_ = 0;                            ///< messages that were delayed so far
};

}  // namespace thinwire::networks
