#include "sim/core/kernel/recording.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace thinwire::inline kernel {

namespace {

/// What the next operation of a strand waits for.
struct NextWaits {
  std::vector<std::uint32_t> ended = {};  ///< that the strand has waited for since its last one
  std::vector<std::uint32_t> begun = {};  ///< its last one, and the other strand's
};

void append(std::vector<std::uint32_t>& all, const std::vector<std::uint32_t>& more) {
  for (const std::uint32_t one : more) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
}

void append(NextWaits& waits, const NextWaits& more) {
  append(waits.ended, more.ended);
  append(waits.begun, more.begun);
}

/// The recording of one rank.
struct RankRecording {
  explicit RankRecording(RankSchedule& all) : ops(all) {}

  /// Adds an operation that a strand begins now, and returns its position.
  std::uint32_t add(Strand strand, ScheduleOp op) {
    NextWaits& waits = strands[static_cast<std::size_t>(strand)];
    const auto position = static_cast<std::uint32_t>(ops.size());
    op.processor = static_cast<int>(strand);
    ops.add(op, waits.ended, waits.begun);
    waits.ended.clear();
    waits.begun.assign(1, position);
    return position;
  }
  NextWaits& of(Strand strand) { return strands[static_cast<std::size_t>(strand)]; }

  RankSchedule& ops;
  std::array<NextWaits, 2> strands = {};
};

}  // namespace

/// Forwards every operation to the communicator of a strand, and records it.
class RecordingCommunicator final : public Communicator {
 public:
  RecordingCommunicator(Communicator& parent, std::shared_ptr<RankRecording> recording,
                        Strand strand)
      : Communicator(parent.rank(), parent.size()),
        parent_(parent),
        shared_(std::move(recording)),
        recording_(*shared_),
        strand_(strand) {}

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    const std::uint32_t op = recording_.add(
        strand_,
        {.kind = ScheduleOpKind::send, .peer = to, .tag = tag, .words = message.words, .work = {}});
    return posted({.parent = parent_.isend(to, tag, std::move(message)), .op = op});
  }
  [[nodiscard]] Request irecv(Rank from, Tag tag) override {
    const std::uint32_t op = recording_.add(
        strand_,
        {.kind = ScheduleOpKind::receive, .peer = from, .tag = tag, .words = {}, .work = {}});
    return posted({.parent = parent_.irecv(from, tag), .op = op});
  }
  [[nodiscard]] Request start_work(Seconds work) override {
    const std::uint32_t op = recording_.add(
        strand_, {.kind = ScheduleOpKind::work, .peer = {}, .tag = {}, .words = {}, .work = work});
    return posted({.parent = parent_.start_work(work), .op = op});
  }
  void watch(Request request) override { parent_.watch(posted_[request.token].parent); }
  [[nodiscard]] Seconds now() const override { return parent_.now(); }

 protected:
  Request start_program(StartedProgram program) override;

  bool complete(std::span<const Request> requests) override {
    return parent_.complete(of_parent(requests));
  }
  void park(std::span<const Request> /*requests*/, std::coroutine_handle<> waiting) override {
    parent_.park(awaited_, waiting);
  }
  bool complete_any(const AnyOf& of) override {
    return parent_.complete_any({.requests = of_parent(of.requests), .watched = of.watched});
  }
  void park_any(const AnyOf& of, std::coroutine_handle<> waiting) override {
    parent_.park_any({.requests = awaited_, .watched = of.watched}, waiting);
  }
  std::size_t first_complete(const AnyOf& of) override {
    return parent_.first_complete({.requests = awaited_, .watched = of.watched});
  }
  Message finish(Request request) override {
    Posted& posted = posted_[request.token];
    Message message = parent_.finish(posted.parent);
    NextWaits& waits = recording_.of(strand_);
    if (posted.started) {
      append(waits, *posted.started);
      posted.started = nullptr;
      return message;
    }
    ScheduleOp& op = recording_.ops[posted.op];
    if (op.kind == ScheduleOpKind::receive) op.words = message.words;
    waits.ended.push_back(posted.op);
    return message;
  }
  void spend(Seconds work) override {
    parent_.spend(work);
    if (work == Seconds(0)) return;
    const std::uint32_t op = recording_.add(
        strand_, {.kind = ScheduleOpKind::work, .peer = {}, .tag = {}, .words = {}, .work = work});
    recording_.of(strand_).ended.push_back(op);
  }
  void enter_phase(std::string_view name) override { parent_.enter_phase(name); }
  void leave_phase() noexcept override { parent_.leave_phase(); }

 private:
  struct Posted {
    Request parent = {};
    std::uint32_t op = 0;
    std::shared_ptr<NextWaits> started = {};  ///< of a started program: its end
  };

  Request posted(Posted posted) {
    posted_.push_back(std::move(posted));
    return Request{posted_.size() - 1};
  }
  std::span<const Request> of_parent(std::span<const Request> requests) {
    awaited_.clear();
    for (const Request request : requests) awaited_.push_back(posted_[request.token].parent);
    return awaited_;
  }

  Communicator& parent_;
  std::shared_ptr<RankRecording> shared_;  ///< with the rank's other strand
  RankRecording& recording_;
  Strand strand_;
  std::vector<Posted> posted_;    ///< by token
  std::vector<Request> awaited_;  ///< the parent's, while the strand waits for them
};

namespace {

Task<Message> run_recorded(Communicator& strand, std::shared_ptr<RankRecording> recording,
                           NextWaits from, std::shared_ptr<NextWaits> end, StartedProgram program) {
  append(recording->of(Strand::second), from);
  RecordingCommunicator comm(strand, recording, Strand::second);
  Message message = co_await program(comm);
  *end = recording->of(Strand::second);
  co_return message;
}

Task<void> run_recorded_rank(Communicator& comm, RankSchedule& ops, const RankProgram& program) {
  // Shared, since a rank need not wait for what it has started.
  RecordingCommunicator recorder(comm, std::make_shared<RankRecording>(ops), Strand::main);
  co_await program(recorder);
}

}  // namespace

Request RecordingCommunicator::start_program(StartedProgram program) {
  auto end = std::make_shared<NextWaits>();
  const NextWaits from = recording_.of(strand_);
  const Request request = parent_.start_program(
      [recording = shared_, from, end, program = std::move(program)](Communicator& strand) {
        return run_recorded(strand, recording, from, end, program);
      });
  return posted({.parent = request, .started = end});
}

RankProgram recorded(RankProgram program, Schedule& schedule) {
  return [program = std::move(program), &schedule](Communicator& comm) {
    return run_recorded_rank(comm, schedule[static_cast<std::size_t>(comm.rank().value())],
                             program);
  };
}

void separate_strands(Schedule& schedule) {
  std::int32_t tags = 0;  // above the tags of main strands
  const auto on_second = [](const ScheduleOp& op) { return op.processor == 1; };
  for (const RankSchedule& rank : schedule) {
    for (const ScheduleOp& op : rank) {
      if (!on_second(op)) tags = std::max(tags, op.tag.value() + 1);
    }
  }
  for (RankSchedule& rank : schedule) {
    for (ScheduleOp& op : rank) {
      if (on_second(op) && op.kind != ScheduleOpKind::work) op.tag += Tag(tags);
    }
  }
}

}  // namespace thinwire::inline kernel
