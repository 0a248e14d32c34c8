#include "sim/app/experiment/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::experiment {

namespace {

/// The jobs that wait, and those whose children run.
class Schedule {
 public:
  Schedule(std::vector<Job> jobs, const JobSettings& settings)
      : jobs_(std::move(jobs)), settings_(settings) {}

  [[nodiscard]] std::size_t done() const { return next_ - running_.size(); }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }

  [[nodiscard]] JobProgress progress(std::optional<std::size_t> ended = std::nullopt) const {
    return {settings_.done_before + done(), running_.size(), left_s(), ended};
  }

  /// Starts what there is room for.
  void start() {
    for (; next_ < size() && running_.size() < static_cast<std::size_t>(settings_.at_once);
         ++next_) {
      Running& started = running_.emplace_back(Running{next_, nullptr});
      std::optional<ChildWork>& work = jobs_[next_].work;
      if (work) started.child = std::make_unique<ChildProcess>(std::move(*work), settings_.limits);
    }
  }

  void wait_a_moment() const {
    std::vector<const ChildProcess*> children;
    for (const Running& one : running_) {
      if (one.child == nullptr) return;
      children.push_back(one.child.get());
    }
    constexpr std::chrono::milliseconds kTick{100};
    ChildProcess::wait_for_news(children, kTick);
  }

  /// Calls `ended` with the index and the line of each job that has ended.
  template <class Ended>
  void collect(const Ended& ended) {
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].child != nullptr && !running_[i].child->advance()) {
        ++i;
        continue;
      }
      const Running one = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      const Job& job = jobs_[one.job];
      taken_s_ += one.child == nullptr ? 0 : one.child->wall_s();
      expected_s_ += job.expected_s;
      ended(one.job, job.line(one.child.get()));
    }
  }

 private:
  struct Running {
    std::size_t job;                      // index
    std::unique_ptr<ChildProcess> child;  // null where there is no work
  };

  /// Judged by how long those took that have ended.
  [[nodiscard]] double left_s() const {
    const double pace = expected_s_ > 0 ? taken_s_ / expected_s_ : 1;
    double expected = 0;
    for (std::size_t i = next_; i < size(); ++i) expected += jobs_[i].expected_s;
    for (const Running& one : running_) {
      const double taken = one.child == nullptr ? 0 : one.child->wall_s();
      expected += std::max(0.0, jobs_[one.job].expected_s - taken / pace);
    }
    return expected * pace / settings_.at_once;
  }

  std::vector<Job> jobs_;
  const JobSettings& settings_;
  std::size_t next_ = 0;  // job to start
  std::vector<Running> running_;
  double taken_s_ = 0;     // by all that have ended
  double expected_s_ = 0;  // of them
};

}  // namespace

void run_jobs(std::vector<Job> jobs, LinesFile& file, const JobSettings& settings,
              const std::function<void(const JobProgress&)>& progress) {
  const InterruptGuard guard;
  Schedule schedule(std::move(jobs), settings);
  progress(schedule.progress());
  while (schedule.done() < schedule.size()) {
    schedule.start();
    schedule.wait_a_moment();
    schedule.collect([&](std::size_t job, const std::string& line) {
      file.append(line + '\n');
      progress(schedule.progress(job));
    });
    if (InterruptGuard::signal() != 0) {
      throw InterruptedError(
          fmt::format("interrupted; {} of {} {} are in {}, and the same command goes on",
                      settings.done_before + schedule.done(),
                      settings.done_before + schedule.size(), settings.what, file.path()));
    }
    progress(schedule.progress());
  }
}

}  // namespace thinwire::experiment
