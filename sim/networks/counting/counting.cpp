#include "sim/networks/counting/counting.hpp"

#include <algorithm>

#include "sim/networks/common/complaints.hpp"
#include "sim/networks/common/event_loop.hpp"

namespace thinwire {

namespace {

class CountingRank final : public LoopRank {
 public:
  CountingRank(Rank rank, int size, SlotPool& slots, PhaseNames& names, EventLoop& loop)
      : LoopRank(rank, size, slots, names), loop_(loop) {}

  [[nodiscard]] Seconds now() const override { return Seconds(0); }
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(clock_); }

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    check_peer(*this, to);
    books().sent(message.words);
    send_steps_ = std::max(clock_, send_steps_) + 1;
    loop_.deliver(rank(), to, tag, std::move(message), send_steps_);
    return send_request(send_steps_);
  }

 protected:
  Message finish(Request request) override {
    if (!is_send(request)) {
      receive_steps_ = std::max(receive_steps_ + 1, stamp_of(request));
      clock_ = std::max(clock_, receive_steps_);
    }
    return LoopRank::finish(request);
  }

  void spend(Seconds /*work*/) override {}

 private:
  EventLoop& loop_;
  double send_steps_ = 0;
  double receive_steps_ = 0;
};

class CountingLoop final : public EventLoop {
 public:
  explicit CountingLoop(int size) {
    for (int rank = 0; rank < size; ++rank) {
      auto counter = std::make_unique<CountingRank>(Rank(rank), size, slots(), names(), *this);
      counters_.push_back(counter.get());
      ranks_.push_back(std::move(counter));
    }
  }

  RunReport run(const RankProgram& program) {
    EventLoop::run(program, ranks_);
    RunReport report{.phases = names().all(), .ranks = {}};
    for (const CountingRank* counter : counters_) {
      report.ranks.push_back({.finished = Seconds(0),
                              .steps = counter->steps(),
                              .by_phase = counter->ledger().by_phase()});
    }
    return report;
  }

 protected:
  // A message is delivered when it is posted: there is nothing in flight to move on.
  bool advance() override { return false; }

 private:
  std::vector<std::unique_ptr<LoopRank>> ranks_;
  std::vector<CountingRank*> counters_;
};

}  // namespace

RunReport CountingNetwork::run(int ranks, const RankProgram& program) {
  return CountingLoop(ranks).run(program);
}

}  // namespace thinwire
