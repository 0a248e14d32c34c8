// The two strands of a rank that is an MPI process, and the loop that resumes them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <coroutine>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/ledger.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/mpi/transport.hpp"

namespace thinwire::networks {

class MpiRun;

/// The Communicator of a strand.
class MpiStrand final : public Communicator {
 public:
  MpiStrand(Rank rank, int size, Strand strand, MpiRun& run);

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override;
  [[nodiscard]] Request irecv(Rank from, Tag tag) override;
  /// Work takes no time here, as in spend().
  [[nodiscard]] Request start_work(Seconds work) override;
  [[nodiscard]] Seconds now() const override;

  /// Whether it waits for something, and whether it can be resumed.
  [[nodiscard]] bool is_parked() const { return static_cast<bool>(waiting_); }
  [[nodiscard]] bool can_resume() const { return is_parked() && pending_ <= 0; }
  void resume() { std::exchange(waiting_, {}).resume(); }
  Ledger& books() { return ledger_; }

 protected:
  Request start_program(StartedProgram program) override;
  bool complete(std::span<const Request> requests) override;
  void park(std::span<const Request> /*requests*/, std::coroutine_handle<> waiting) override {
    waiting_ = waiting;
  }
  bool complete_any(const AnyOf& of) override;
  void park_any(const AnyOf& of, std::coroutine_handle<> waiting) override {
    park(of.requests, waiting);
  }
  std::size_t first_complete(const AnyOf& of) override;
  Message finish(Request request) override;
  void spend(Seconds /*work*/) override {}
  void enter_phase(std::string_view name) override { ledger_.enter(name, now()); }
  void leave_phase() noexcept override { ledger_.leave(now()); }

 private:
  MpiRun& run_;
  Strand strand_;
  Ledger ledger_;
  std::coroutine_handle<> waiting_;
  int pending_ = 0;  ///< operations that it waits for; below 0 if more than one of any is done
};

/// One run of a rank: its own program, and those that it starts.
class MpiRun {
 public:
  MpiRun(Rank rank, int size, MpiTransport& transport)
      : transport_(transport),
        main_(rank, size, Strand::main, *this),
        second_(rank, size, Strand::second, *this) {}

  /// Begins `task`, the program of the rank, which must outlive its end.
  void begin(Task<void>& task) {
    origin_ = MPI_Wtime();
    main_.books().open(Seconds(0));
    main_task_ = &task;
    may_wait_ = false;
    task.start();
    end_main();
  }
  /// Runs the program and what it has started to the end, if `wait`; otherwise as far as they get
  /// without waiting. Returns whether they have ended. Rethrows their exceptions.
  bool advance(bool wait) {
    may_wait_ = wait;
    while (main_task_ != nullptr || second_task_ || !programs_.empty()) {
      if (main_task_ != nullptr && main_.can_resume()) {
        main_.resume();
        end_main();
      } else if (second_task_ ? second_.can_resume() : !programs_.empty()) {
        step_second();
      } else if (!transport_.progress(wait)) {
        return false;
      }
    }
    for (const auto& [index, error] : failures_) std::rethrow_exception(error);
    return true;
  }

  [[nodiscard]] Seconds now() const { return Seconds(MPI_Wtime() - origin_); }
  [[nodiscard]] Seconds finished() const { return finished_; }
  [[nodiscard]] MpiStrand& main() { return main_; }
  [[nodiscard]] MpiStrand& second() { return second_; }
  [[nodiscard]] PhaseNames& names() { return names_; }
  [[nodiscard]] MpiTransport& transport() { return transport_; }
  /// Whether a strand may wait where it is.
  [[nodiscard]] bool may_wait() const { return may_wait_; }
  /// Whether the strand that is not `strand` could run now.
  [[nodiscard]] bool other_can_run(Strand strand) const {
    if (strand == Strand::second) return main_.can_resume();
    return second_task_ ? second_.can_resume() : !programs_.empty();
  }

  [[nodiscard]] Request start(StartedProgram program) {
    const MpiTransport::Index index = transport_.begin_local();
    programs_.push_back({std::move(program), index});
    return Request{index};
  }
  /// Throws the exception of a started program that has ended with one.
  void rethrow(MpiTransport::Index index) {
    for (auto at = failures_.begin(); at != failures_.end(); ++at) {
      if (at->first != index) continue;
      const std::exception_ptr error = at->second;
      failures_.erase(at);
      std::rethrow_exception(error);
    }
  }

 private:
  struct Started {
    StartedProgram program;
    MpiTransport::Index index;
  };

  void end_main() {
    if (!main_task_->done()) return;
    std::exchange(main_task_, nullptr)->result();
    const Seconds end = now();
    finished_ = std::max(finished_, end);
    main_.books().close(end);
  }

  /// Begins the next started program, or continues the one that runs.
  void step_second() {
    if (second_task_) {
      second_.resume();
    } else {
      second_.books().open(now());
      second_task_.emplace(programs_.front().program(second_));
      second_task_->start();
    }
    if (!second_task_->done()) return;
    const MpiTransport::Index index = programs_.front().index;
    Message message;
    try {
      message = second_task_->result();
    } catch (...) {
      failures_.emplace_back(index, std::current_exception());
    }
    second_task_.reset();
    programs_.pop_front();
    const Seconds end = now();
    finished_ = std::max(finished_, end);
    second_.books().close(end);
    transport_.complete_local(index, std::move(message));
  }

  MpiTransport& transport_;
  PhaseNames names_;
  double origin_ = 0;
  bool may_wait_ = false;
  Task<void>* main_task_ = nullptr;  // null once it has ended
  Seconds finished_;
  std::deque<Started> programs_;  // the first one runs, if second_task_ has a value
  std::vector<std::pair<MpiTransport::Index, std::exception_ptr>> failures_;  // not rethrown yet
  MpiStrand main_;
  MpiStrand second_;
  std::optional<Task<Message>> second_task_;
};

inline MpiStrand::MpiStrand(Rank rank, int size, Strand strand, MpiRun& run)
    : Communicator(rank, size), run_(run), strand_(strand), ledger_(run.names()) {}

inline Request MpiStrand::isend(Rank to, Tag tag, Message message) {
  check_peer(*this, to);
  ledger_.sent(message.words);
  return Request{run_.transport().send(strand_, to, tag, std::move(message))};
}

inline Request MpiStrand::irecv(Rank from, Tag tag) {
  check_peer(*this, from);
  return Request{run_.transport().receive(strand_, from, tag)};
}

inline Request MpiStrand::start_work(Seconds /*work*/) {
  const MpiTransport::Index index = run_.transport().begin_local();
  run_.transport().complete_local(index, {});
  return Request{index};
}

inline Seconds MpiStrand::now() const { return run_.now(); }

inline Request MpiStrand::start_program(StartedProgram program) {
  if (strand_ == Strand::second) throw_started_by_second(rank());
  return run_.start(std::move(program));
}

inline bool MpiStrand::complete(std::span<const Request> requests) {
  MpiTransport& transport = run_.transport();
  for (const Request request : requests) {
    const auto index = static_cast<MpiTransport::Index>(request.token);
    if (transport.is_done(index)) continue;
    transport.watch(index, pending_);
    ++pending_;
  }
  while (pending_ > 0) {
    if (run_.other_can_run(strand_) || !transport.progress(run_.may_wait())) return false;
  }
  return true;
}

inline bool MpiStrand::complete_any(const AnyOf& of) {
  MpiTransport& transport = run_.transport();
  const auto index_of = [](Request request) {
    return static_cast<MpiTransport::Index>(request.token);
  };
  if (std::ranges::any_of(of.requests,
                          [&](Request request) { return transport.is_done(index_of(request)); })) {
    return true;
  }
  pending_ = 1;
  for (const Request request : of.requests) transport.watch(index_of(request), pending_);
  while (pending_ > 0) {
    if (run_.other_can_run(strand_) || !transport.progress(run_.may_wait())) return false;
  }
  return true;
}

inline std::size_t MpiStrand::first_complete(const AnyOf& of) {
  MpiTransport& transport = run_.transport();
  std::size_t first = of.requests.size();
  for (std::size_t i = of.requests.size(); i-- > 0;) {
    const auto index = static_cast<MpiTransport::Index>(of.requests[i].token);
    transport.forget(index);
    if (transport.is_done(index)) first = i;
  }
  pending_ = 0;
  return first;
}

inline Message MpiStrand::finish(Request request) {
  const auto index = static_cast<MpiTransport::Index>(request.token);
  MpiTransport& transport = run_.transport();
  const bool received = transport.is_receive(index);
  Message message = transport.take(index);
  if (received) ledger_.received(message.words);
  run_.rethrow(index);
  return message;
}

}  // namespace thinwire::networks
