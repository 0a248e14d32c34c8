#include "sim/machine/networks/counting/counting.hpp"

#include <algorithm>

#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"
#include "sim/machine/networks/common/switch_sums.hpp"

namespace thinwire::networks {

namespace {

class CountingRank final : public LoopRank {
 public:
  using LoopRank::LoopRank;

  [[nodiscard]] Seconds now() const override { return Seconds(0); }

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    check_peer(*this, to);
    books().sent(message.words);
    send_steps_ = std::max(clock_, send_steps_) + 1;
    loop().deliver(rank(), to, strand(), tag, std::move(message), send_steps_);
    return timed_request(send_steps_);
  }
  [[nodiscard]] Request post_in_switches(const Members& members, InSwitches part) override;
  [[nodiscard]] Request start_work(Seconds /*work*/) override { return timed_request(clock_); }

 protected:
  Message finish(Request request) override {
    if (is_receive(request)) count_received(stamp_of(request));
    return LoopRank::finish(request);
  }
  // A message of an exchange, too, is delivered when it is posted.
  [[nodiscard]] bool departs_early() const override { return true; }
  void send_in_step(Rank to, const Exchanges::OfRank& own, Message&& message) override {
    books().sent(message.words);
    send_steps_ = std::max(clock_, send_steps_) + 1;
    Exchanges& exchanges = loop().exchanges();
    exchanges.sending(rank(), own.posted).sent = send_steps_;
    const Exchanges::Step at{to, own.posted, own.odd};
    exchanges.arriving(at) = {.message = std::move(message), .sent = true, .received = send_steps_};
    if (exchanges.waits_for(at, false)) loop().go_on(to);
  }
  void release_held(TransferIndex /*held*/) override {}
  void take_in(Words /*words*/, double stamp) override { count_received(stamp); }

  void spend(Seconds /*work*/) override {}

 private:
  void count_received(double stamp) {
    receive_steps_ = std::max(receive_steps_ + 1, stamp);
    clock_ = std::max(clock_, receive_steps_);
  }

  double send_steps_ = 0;
  double receive_steps_ = 0;
};

/// A collective in switches is one step from the last post to the results.
class CountingLoop final : public EventLoop {
 public:
  explicit CountingLoop(int size) {
    for (int rank = 0; rank < size; ++rank) ranks_.push_back(make(Rank(rank), size, Strand::main));
  }

  void post_in_switches(Rank rank, Strand strand, const Members& members, InSwitches&& part,
                        SlotIndex slot, double now) {
    const SumIndex index = sums_.post(rank, strand, members, std::move(part), slot, now);
    SwitchSum& sum = sums_[index];
    if (sum.posted < members.count) return;
    sum.results = sum.function(sum.sent);
    for (int i = 0; i < members.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      slots()[sum.slots[at]].message = std::move(sum.results[at]);
      complete(sum.member(i), strand, sum.slots[at], sum.begins + 1);
    }
    sums_.release(index);
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    RunReport report{.phases = names().all(), .ranks = {}};
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      report.ranks.push_back({.finished = Seconds(0),
                              .steps = static_cast<std::int64_t>(end_of(rank)),
                              .by_phase = traffic_of(rank)});
    }
    return report;
  }

 protected:
  // A message is delivered when it is posted: nothing is in flight.
  bool advance() override { return false; }
  std::unique_ptr<LoopRank> make_second(Rank rank) override {
    return make(rank, static_cast<int>(ranks_.size()), Strand::second);
  }

 private:
  std::unique_ptr<LoopRank> make(Rank rank, int size, Strand strand) {
    return std::make_unique<CountingRank>(rank, size, *this, strand);
  }

  SwitchSums sums_;
  std::vector<std::unique_ptr<LoopRank>> ranks_;
};

Request CountingRank::post_in_switches(const Members& members, InSwitches part) {
  books().sent(part.message.words);
  const SlotIndex slot = slots().acquire(rank(), part.tag);
  static_cast<CountingLoop&>(loop()).post_in_switches(rank(), strand(), members, std::move(part),
                                                      slot, clock_);
  return receive_request(slot);
}

}  // namespace

RunReport CountingNetwork::run(int ranks, const RankProgram& program) {
  return CountingLoop(ranks).run(program);
}

}  // namespace thinwire::networks
