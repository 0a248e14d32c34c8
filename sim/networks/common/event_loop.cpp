#include "sim/networks/common/event_loop.hpp"

#include <algorithm>
#include <bit>

#include "sim/networks/common/complaints.hpp"

namespace thinwire {

namespace {

// Times are never negative, so the sign bit of a send's token is free to mark a receive.
constexpr std::uint64_t kReceiveBit = std::uint64_t{1} << 63U;

SlotIndex slot_of(Request request) { return static_cast<SlotIndex>(request.token); }

}  // namespace

Request LoopRank::send_request(double complete_at) {
  return Request{std::bit_cast<std::uint64_t>(complete_at)};
}

bool LoopRank::is_send(Request request) { return (request.token & kReceiveBit) == 0; }

Request LoopRank::irecv(Rank from, Tag tag) {
  check_peer(*this, from);
  return Request{kReceiveBit | mailbox_.post(slots_, from, tag, clock_)};
}

bool LoopRank::deliver(Rank from, Tag tag, Message&& message, double stamp) {
  const SlotIndex index = mailbox_.arrive(slots_, from, tag, std::move(message), stamp);
  if (index == kNoSlot || !slots_[index].awaited) return false;
  wake_ = std::max(wake_, slots_[index].stamp);
  if (--pending_ != 0) return false;
  clock_ = wake_;
  return true;
}

double LoopRank::stamp_of(Request request) const {
  return is_send(request) ? std::bit_cast<double>(request.token) : slots_[slot_of(request)].stamp;
}

bool LoopRank::complete(std::span<const Request> requests) {
  double last = clock_;
  for (const Request request : requests) {
    if (!is_send(request) && !slots_[slot_of(request)].arrived) return false;
    last = std::max(last, stamp_of(request));
  }
  clock_ = last;
  return true;
}

void LoopRank::park(std::span<const Request> requests, std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  awaited_ = requests;
  pending_ = 0;
  wake_ = clock_;
  for (const Request request : requests) {
    if (is_send(request) || slots_[slot_of(request)].arrived) {
      wake_ = std::max(wake_, stamp_of(request));
    } else {
      slots_[slot_of(request)].awaited = true;
      ++pending_;
    }
  }
}

Message LoopRank::finish(Request request) {
  if (is_send(request)) return {};
  const SlotIndex index = slot_of(request);
  Message message = std::move(slots_[index].message);
  slots_.release(index);
  ledger_.received(message.words);
  return message;
}

std::vector<SlotIndex> LoopRank::missing() const {
  std::vector<SlotIndex> slots;
  for (const Request request : awaited_) {
    if (!is_send(request) && !slots_[slot_of(request)].arrived) slots.push_back(slot_of(request));
  }
  return slots;
}

void EventLoop::deliver(Rank from, Rank to, Tag tag, Message&& message, double stamp) {
  const auto receiver = static_cast<std::size_t>(to.value());
  if (ranks_[receiver]->deliver(from, tag, std::move(message), stamp)) ready_.push_back(receiver);
}

void EventLoop::run(const RankProgram& program, std::span<const std::unique_ptr<LoopRank>> ranks) {
  ranks_ = ranks;
  try {
    run_to_end(program);
  } catch (...) {
    tasks_.clear();  // coroutines end before the ranks that they speak through
    throw;
  }
  tasks_.clear();
}

void EventLoop::run_to_end(const RankProgram& program) {
  tasks_.reserve(ranks_.size());
  running_ = ranks_.size();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    tasks_.push_back(program(*ranks_[rank]));
    tasks_[rank].start();
    settle(rank);
  }
  do {
    run_ready();
  } while (running_ > 0 && advance());
  if (running_ > 0) report_deadlock();
  while (advance()) run_ready();  // what is still in flight arrives, and then belongs to nobody
  report_unmatched();
}

void EventLoop::run_ready() {
  constexpr std::size_t kAhead = 3;
  while (!ready_.empty()) {
    resumed_.swap(ready_);  // ranks that run may make others ready
    for (std::size_t i = 0; i < resumed_.size(); ++i) {
      if (i + kAhead < resumed_.size()) ranks_[resumed_[i + kAhead]]->prefetch_coroutine();
      ranks_[resumed_[i]]->resume();
      settle(resumed_[i]);
    }
    resumed_.clear();
  }
}

void EventLoop::settle(std::size_t rank) {
  if (!tasks_[rank].done()) return;
  tasks_[rank].result();
  ranks_[rank]->close_books();
  --running_;
}

void EventLoop::report_deadlock() const {
  std::vector<Waiting> waits;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (tasks_[rank].done()) continue;
    for (const SlotIndex slot : ranks_[rank]->missing()) {
      waits.push_back({ranks_[rank]->rank(), slots_[slot].from, slots_[slot].tag});
    }
  }
  throw_deadlock(running_, ranks_.size(), waits);
}

void EventLoop::report_unmatched() const {
  std::vector<const Mailbox*> mailboxes;
  for (const auto& rank : ranks_) mailboxes.push_back(&rank->mailbox());
  check_matched(mailboxes, slots_);
}

}  // namespace thinwire
