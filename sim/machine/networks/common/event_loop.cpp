#include "sim/machine/networks/common/event_loop.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>

#include "sim/core/base/errors.hpp"

namespace thinwire::networks {

LoopRank::LoopRank(Rank rank, int size, EventLoop& loop, Strand strand)
    : Communicator(rank, size),
      strand_(strand),
      loop_(loop),
      slots_(loop.slots()),
      ledger_(loop.names()) {}

Request LoopRank::irecv(Rank from, Tag tag) {
  check_peer(*this, from);
  return Request{kSlotBit | mailbox_.post(slots_, from, tag, clock_)};
}

void LoopRank::enter_phase(std::string_view name) {
  ledger_.enter(name, now());
  loop_.note_phase(name, now().value());
}

Request LoopRank::start_program(StartedProgram program) {
  return slot_request(loop_.start(*this, std::move(program)));
}

void LoopRank::begin(double start) {
  clock_ = std::max(clock_, start);
  ledger_.open(now());
}

void LoopRank::park_idle(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  awaited_ = {};
}

bool LoopRank::wake(SlotIndex index) {
  const Slot& slot = slots_[index];
  if (!slot.watched) return slot.awaited && wake_at(slot.stamp);
  done_.push_back({slot.stamp, index});
  return waits_for_any_ && pending_ == 1 && wake_at(slot.stamp);
}

bool LoopRank::wake_at(double stamp) {
  if (waits_for_any_ && stamp > loop_.handled()) {
    if (stamp < alarm_) ring_at(stamp);
    return false;
  }
  wake_ = std::max(wake_, stamp);
  if (--pending_ != 0) return false;
  clock_ = wake_;
  return true;
}

bool LoopRank::deliver(Rank from, Tag tag, Message&& message, double stamp) {
  const SlotIndex index = mailbox_.arrive(slots_, from, tag, std::move(message), stamp);
  return index != kNoSlot && wake(index);
}

double LoopRank::stamp_of(Request request) const {
  return is_timed(request) ? std::bit_cast<double>(request.token) : slots_[slot_of(request)].stamp;
}

bool LoopRank::complete(std::span<const Request> requests) {
  double last = clock_;
  for (const Request request : requests) {
    if (!is_timed(request) && !slots_[slot_of(request)].arrived) return false;
    last = std::max(last, stamp_of(request));
  }
  clock_ = last;
  return true;
}

void LoopRank::park(std::span<const Request> requests, std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  awaited_ = requests;
  waits_for_any_ = false;
  pending_ = 0;
  wake_ = clock_;
  for (const Request request : requests) {
    if (is_complete(request)) {
      wake_ = std::max(wake_, stamp_of(request));
    } else {
      slots_[slot_of(request)].awaited = true;
      ++pending_;
    }
  }
}

void LoopRank::watch(Request request) {
  if (is_timed(request)) {
    done_.push_back({stamp_of(request), kNoSlot});
    return;
  }
  Slot& slot = slots_[slot_of(request)];
  slot.watched = true;
  if (slot.arrived) done_.push_back({slot.stamp, slot_of(request)});
}

// What is complete at a time that the loop has not reached may not be the first: a message may
// arrive earlier. The strand is then resumed at that time, by an event.
bool LoopRank::complete_any(const AnyOf& of) {
  before_ = clock_;
  alarm_ = std::numeric_limits<double>::infinity();
  if (of.watched) {
    for (const Done& done : done_) alarm_ = std::min(alarm_, done.stamp);
  } else {
    for (const Request request : of.requests) {
      if (is_complete(request)) alarm_ = std::min(alarm_, stamp_of(request));
    }
  }
  return is_first();
}

bool LoopRank::is_first() const {
  const double handled = loop_.handled();
  const double known = loop_.strands_run_ahead() ? handled : std::max(clock_, handled);
  return std::isfinite(alarm_) && alarm_ <= known;
}

void LoopRank::ring_at(double time) {
  alarm_ = time;
  loop_.wake_at(alarm_, loop_.index_of(rank(), strand_));
}

void LoopRank::park_any(const AnyOf& of, std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  awaited_ = of.requests;
  waits_for_any_ = true;
  pending_ = 1;
  wake_ = clock_;
  if (!of.watched) {
    for (const Request request : of.requests) {
      if (!is_complete(request)) slots_[slot_of(request)].awaited = true;
    }
  }
  if (std::isfinite(alarm_)) ring_at(alarm_);
}

bool LoopRank::ring(double time) {
  if (alarm_ != time || pending_ != 1) return false;
  pending_ = 0;
  return true;
}

std::size_t LoopRank::first_complete(const AnyOf& of) {
  const std::size_t first = of.watched ? take_first_done(of.requests) : first_of(of.requests);
  clock_ = std::max(before_, stamp_of(of.requests[first]));
  alarm_ = std::numeric_limits<double>::infinity();
  return first;
}

std::size_t LoopRank::first_of(std::span<const Request> requests) {
  std::size_t first = requests.size();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_complete(requests[i])) {
      slots_[slot_of(requests[i])].awaited = false;
    } else if (first == requests.size() || stamp_of(requests[i]) < stamp_of(requests[first])) {
      first = i;
    }
  }
  return first;
}

std::size_t LoopRank::take_first_done(std::span<const Request> requests) {
  const double first = std::ranges::min(done_, {}, &Done::stamp).stamp;
  // What is complete at that time is last, so that each request looks at few.
  const auto last = std::partition(done_.begin(), done_.end(),
                                   [&](const Done& done) { return done.stamp != first; });
  const auto of = [&](Request request) {
    return std::find_if(last, done_.end(), [&](const Done& done) {
      return is_timed(request) ? done.slot == kNoSlot && stamp_of(request) == first
                               : done.slot == slot_of(request);
    });
  };
  const auto position =
      std::ranges::find_if(requests, [&](Request request) { return of(request) != done_.end(); });
  *of(*position) = done_.back();
  done_.pop_back();
  return static_cast<std::size_t>(position - requests.begin());
}

Message LoopRank::finish(Request request) {
  if (is_timed(request)) return {};
  const SlotIndex index = slot_of(request);
  Message message = std::move(slots_[index].message);
  slots_.release(index);
  if (is_receive(request)) {
    ledger_.received(message.words);
  } else {
    loop_.rethrow_failure(index);
  }
  return message;
}

Task<void> LoopRank::exchange(ExchangePart& part, Tag tag, int under_way) {
  if (strand_ == Strand::second) return Communicator::exchange(part, tag, under_way);
  return take_all_steps(part, tag, under_way);
}

Task<void> LoopRank::take_all_steps(ExchangePart& part, Tag tag, int under_way) {
  co_await Steps{.rank = *this, .part = part, .tag = tag, .under_way = under_way};
}

bool LoopRank::begin_exchange(ExchangePart& part, Tag tag, int under_way) {
  if (loop_.joins_exchange(*this, part, tag, under_way)) return false;
  post_first_steps(part, tag, under_way);
  return take_steps();
}

void LoopRank::post_first_steps(ExchangePart& part, Tag tag, int under_way) {
  Exchanges& exchanges = loop_.exchanges();
  exchanges.begin(rank(), size(), part, tag, under_way, departs_early());
  Exchanges::OfRank& own = exchanges.of(rank());
  while (own.posted < std::min(under_way, own.steps)) post_step(own);
}

void LoopRank::park_exchange(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  awaited_ = {};
  in_exchange_ = true;
}

bool LoopRank::take_steps() {
  Exchanges& exchanges = loop_.exchanges();
  Exchanges::OfRank& own = exchanges.of(rank());
  while (own.done < own.steps) {
    Exchanges::Receiving& receiving = exchanges.receiving(rank(), own.done);
    if (!own.has_received) {
      if (receiving.received == Exchanges::kPending) return false;
      clock_ = std::max(clock_, receiving.received);
      ledger_.received(receiving.message.words);
      take_in(receiving.message.words, receiving.received);
      own.has_received = true;
    }
    const double sent = exchanges.sending(rank(), own.done).sent;
    if (sent == Exchanges::kPending) return false;
    clock_ = std::max(clock_, sent);
    Message message = std::move(receiving.message);
    const Rank from = peers_in_step(rank(), size(), own.done).from;
    exchanges.end_step(rank());
    exchanges.prefetch_sending(rank(), own.done + 1);  // many steps may have been waiting
    exchanges.prefetch_receiving(rank(), own.done + 1);
    const bool more = own.posted < own.steps;
    if (more && own.under_way > 1) post_step(own);
    spend(own.part->incoming(from, std::move(message)));
    if (more && own.under_way == 1) post_step(own);
  }
  return true;
}

/// Posts the receive and the send of the next step.
void LoopRank::post_step(Exchanges::OfRank& own) {
  const int step = own.posted;
  const ExchangePeers peers = peers_in_step(rank(), size(), step);
  Exchanges& exchanges = loop_.exchanges();
  Exchanges::Receiving& receiving = exchanges.receiving(rank(), step);
  receiving.posted = clock_;
  if (!receiving.sent && exchanges.has_posted({peers.from, step, own.odd})) {
    Exchanges::Sending& held = exchanges.sending(peers.from, step);
    receiving.message = std::move(held.message);
    receiving.sent = true;
    release_held(held.transfer);
  }
  send_in_step(peers.to, own, own.part->outgoing(peers.to));
  if (++own.posted < own.steps) {
    own.read_next = own.part->read_for(peers_in_step(rank(), size(), own.posted).to);
  }
}

bool LoopRank::JointTurn::await_ready() {
  return rank.strand_ == Strand::second ||
         !rank.loop_.joins_rounds(rank, members, part, tag, taken);
}

Task<void> LoopRank::rounds_among(Members members, const RoundsPart& part, Tag tag) {
  const bool taken =
      co_await JointTurn{.rank = *this, .members = members, .part = part, .tag = tag};
  if (!taken) co_await Communicator::rounds_among(members, part, tag);
}

void LoopRank::add_waits(std::vector<Waiting>& waits) const {
  if (in_exchange_) {
    const Exchanges::OfRank& own = loop_.exchanges().of(rank());
    const ExchangePeers peers = peers_in_step(rank(), size(), own.done);
    using enum Waiting::For;
    waits.push_back({.rank = rank(),
                     .peer = own.has_received ? peers.to : peers.from,
                     .tag = own.tag,
                     .what = own.has_received ? taking : message});
  }
  for (const Request request : awaited_) {
    if (is_complete(request)) continue;
    const Slot& slot = slots_[slot_of(request)];
    // A send completes as long as anything is in flight, unless it waits for its receiver.
    auto what = Waiting::For::started;
    if (is_receive(request))
      what = Waiting::For::message;
    else if (slot.transfer != kNoTransfer)
      what = Waiting::For::taking;
    waits.push_back(
        {.rank = rank(), .peer = slot.from, .tag = slot.tag, .what = what, .strand = strand_});
  }
}

Request TimedRank::start_work(Seconds work) {
  check_work(work);
  return timed_request(clock_ + work.value());
}

void TimedRank::spend(Seconds work) {
  check_work(work);
  const Seconds begin = now();
  clock_ += work.value();
  books().worked(begin, now());
}

/// The second strand of a rank, with its queue of started programs.
struct EventLoop::Second {
  struct Program {
    SlotIndex slot;
    double started;
    StartedProgram make;
  };

  std::unique_ptr<LoopRank> comm;
  std::deque<Program> programs = {};
  bool idle = false;
  std::optional<Task<void>> task = {};
};

class EventLoop::NextProgram {
 public:
  explicit NextProgram(Second& second) : second_(second) {}
  [[nodiscard]] bool await_ready() const { return !second_.programs.empty(); }
  void await_suspend(std::coroutine_handle<> waiting) const {
    second_.idle = true;
    second_.comm->park_idle(waiting);
  }
  Second::Program await_resume() const {
    Second::Program program = std::move(second_.programs.front());
    second_.programs.pop_front();
    return program;
  }

 private:
  Second& second_;
};

EventLoop::EventLoop() = default;
EventLoop::~EventLoop() = default;

LoopRank& EventLoop::second_strand_of(Rank rank) { return *second_of(rank).comm; }

bool EventLoop::has_started(Rank rank) const {
  const auto& second = seconds_[static_cast<std::size_t>(rank.value())];
  return second && !second->idle;
}

void EventLoop::deliver(Rank from, Rank to, Strand strand, Tag tag, Message&& message,
                        double stamp) {
  if (strand_of(to, strand).deliver(from, tag, std::move(message), stamp)) {
    ready_.push_back(index_of(to, strand));
  }
}

void EventLoop::complete(Rank rank, Strand strand, SlotIndex slot, double stamp) {
  if (StepSlot::is(slot)) {
    if (exchanges_.complete(rank, slot, stamp)) go_on(rank);
    return;
  }
  slots_[slot].arrived = true;
  slots_[slot].stamp = stamp;
  if (!slots_[slot].awaited && !slots_[slot].watched) return;
  const std::size_t at = index_of(rank, strand);
  if (strands_[at]->wake(slot)) ready_.push_back(at);
}

EventLoop::Second& EventLoop::second_of(Rank rank) {
  const auto at = static_cast<std::size_t>(rank.value());
  if (seconds_.empty()) {
    seconds_.resize(size_);
    strands_.resize(2 * size_);
  }
  if (!seconds_[at]) {
    seconds_[at] = std::make_unique<Second>(Second{.comm = make_second(rank)});
    strands_[size_ + at] = seconds_[at]->comm.get();
    seconds_[at]->task = serve(*seconds_[at]);
    seconds_[at]->task->start();
  }
  return *seconds_[at];
}

SlotIndex EventLoop::start(LoopRank& from, StartedProgram program) {
  const auto at = static_cast<std::size_t>(from.rank().value());
  if (strands_[at] != &from) throw_started_by_second(from.rank());
  Second& second = second_of(from.rank());
  const SlotIndex slot = slots_.acquire(from.rank(), Tag(0), false);
  second.programs.push_back({.slot = slot, .started = from.clock(), .make = std::move(program)});
  ++running_;
  if (std::exchange(second.idle, false)) ready_.push_back(size_ + at);
  return slot;
}

/// Runs the programs started on a second strand, one after another, as long as the loop lives.
Task<void> EventLoop::serve(Second& second) {
  while (true) {
    const Second::Program program = co_await NextProgram(second);
    second.comm->begin(program.started);
    Message result;
    try {
      Task<Message> task = program.make(*second.comm);
      result = co_await std::move(task);
    } catch (...) {
      failures_.emplace_back(program.slot, std::current_exception());
    }
    second.comm->close_books();
    slots_[program.slot].message = std::move(result);
    --running_;
    complete(second.comm->rank(), Strand::main, program.slot, second.comm->clock());
  }
}

void EventLoop::rethrow_failure(SlotIndex slot) {
  const auto failure = std::ranges::find(failures_, slot, [](const auto& f) { return f.first; });
  if (failure == failures_.end()) return;
  const std::exception_ptr error = failure->second;
  failures_.erase(failure);
  std::rethrow_exception(error);
}

void EventLoop::rethrow_unheard() const {
  if (!failures_.empty()) std::rethrow_exception(failures_.front().second);
}

void EventLoop::run(const RankProgram& program, std::span<const std::unique_ptr<LoopRank>> ranks) {
  size_ = ranks.size();
  for (const auto& rank : ranks) strands_.push_back(rank.get());
  try {
    run_to_end(program);
  } catch (...) {
    end_all();
    throw;
  }
  end_all();
}

/// Destroys the coroutines before the ranks whose Communicators they use, and started programs
/// before their starters, to whose variables they may refer.
void EventLoop::end_all() {
  for (const auto& second : seconds_) {
    if (second) second->task.reset();
  }
  tasks_.clear();
}

void EventLoop::run_to_end(const RankProgram& program) {
  tasks_.reserve(size_);
  running_ = size_;
  for (std::size_t rank = 0; rank < size_; ++rank) {
    strands_[rank]->open_books();
    tasks_.push_back(program(*strands_[rank]));
    tasks_[rank].start();
    end_if_done(rank);
  }
  do {
    run_ready();
    // All that could run has waited for what comes after the events that were handled.
    if (running_ > 0 && std::isfinite(limit_) && handled() > limit_) {
      throw TooSlowError("the run takes longer than {} s", limit_);
    }
  } while (running_ > 0 && advance());
  if (running_ > 0) {
    rethrow_unheard();  // the others may be waiting for the failed program
    report_deadlock();
  }
  while (advance()) run_ready();  // deliver what is still in flight; it stays unmatched
  rethrow_unheard();
  report_unmatched();
}

void EventLoop::run_ready() {
  constexpr std::size_t kAhead = 3;
  while (!ready_.empty()) {
    resumed_.swap(ready_);  // ranks that run may make others ready
    for (std::size_t i = 0; i < resumed_.size(); ++i) {
      if (i + 2 * kAhead < resumed_.size()) strands_[resumed_[i + 2 * kAhead]]->prefetch();
      if (i + kAhead < resumed_.size()) strands_[resumed_[i + kAhead]]->prefetch_resumed();
      if (!strands_[resumed_[i]]->resume()) end_if_done(resumed_[i]);
    }
    resumed_.clear();
  }
}

/// Closes the ledger of a rank whose program has ended.
void EventLoop::end_if_done(std::size_t at) {
  if (at >= size_ || !tasks_[at].done()) return;
  tasks_[at].result();
  strands_[at]->close_books();
  --running_;
}

void EventLoop::report_deadlock() const {
  std::vector<Waiting> waits;
  std::size_t ranks = 0;
  for (std::size_t rank = 0; rank < size_; ++rank) {
    const std::size_t before = waits.size();
    if (!tasks_[rank].done()) strands_[rank]->add_waits(waits);
    if (second(rank) != nullptr) second(rank)->add_waits(waits);
    if (waits.size() > before) ++ranks;
  }
  throw_deadlock(ranks, size_, waits);
}

void EventLoop::report_unmatched() const {
  static const Mailbox kEmpty;
  std::vector<const Mailbox*> mailboxes;
  for (const LoopRank* strand : strands_) {
    mailboxes.push_back(strand == nullptr ? &kEmpty : &strand->mailbox());
  }
  check_matched(mailboxes, size_, slots_);
}

double EventLoop::end_of(std::size_t rank) const {
  double end = strands_[rank]->clock();
  if (second(rank) != nullptr) end = std::max(end, second(rank)->clock());
  return end;
}

std::vector<Traffic> EventLoop::traffic_of(std::size_t rank) const {
  std::vector<Traffic> traffic = strands_[rank]->ledger().by_phase();
  if (second(rank) != nullptr) add_phases(traffic, second(rank)->ledger().by_phase());
  return traffic;
}

void EventLoop::note_phase(std::string_view name, double now) {
  const std::size_t phase = names_.index_of(name);
  if (phase >= phases_begin_.size()) phases_begin_.resize(phase + 1, HUGE_VAL);
  phases_begin_[phase] = std::min(phases_begin_[phase], now);
}

RunReport EventLoop::timed_report() const {
  RunReport report{.phases = names_.all(), .ranks = {}};
  for (std::size_t rank = 0; rank < size_; ++rank) {
    report.ranks.push_back({.finished = Seconds(end_of(rank)), .by_phase = traffic_of(rank)});
  }
  if (strands_run_ahead()) put_phases_in_order(report);
  return report;
}

/// Phases are numbered as strands enter them: puts them in the order of simulated time.
void EventLoop::put_phases_in_order(RunReport& report) const {
  const std::vector<std::string> names = report.phases;
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    return phases_begin_[a] < phases_begin_[b];
  });
  for (std::size_t i = 0; i < order.size(); ++i) report.phases[i] = names[order[i]];
  for (RankReport& rank : report.ranks) {
    std::vector<Traffic> numbered = std::move(rank.by_phase);
    numbered.resize(names.size());
    rank.by_phase.clear();
    for (const std::size_t phase : order) rank.by_phase.push_back(numbered[phase]);
  }
}

}  // namespace thinwire::networks
