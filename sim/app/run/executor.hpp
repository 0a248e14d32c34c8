// Runs work in child processes, several at a time: the one place that forks the
// simulation of a point.
//
// The way of a run: a plan (sim/app/plan) has tasks (tasks.hpp), the executor runs them, and their
// outcomes are joined into the outcome of the point and its row (join.hpp). The executor does so
// twice: it has a process for each point (simulate.hpp), and in there, where processors are to spare,
// one for each task (simulation.hpp). A process outlives neither its executor nor its parent, and
// leaves Ctrl-C and SIGTERM to it (sim/core/base/child_process.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sim/core/base/child_process.hpp"

namespace thinwire::run {

/// How processes run; nothing of it changes a result.
struct ProcessSettings {
  int at_once = 1;          ///< processes, at least 1
  bool verbose = false;     ///< let SimGrid's log through to stderr
  bool in_order = false;    ///< jobs start in their order, not the longest first
  ChildLimits limits = {};  ///< of each process
};

/// Child processes, of which at most some run at once. They are numbered in the order of their
/// start. All functions that wait throw InterruptedError after Ctrl-C or SIGTERM while an
/// InterruptGuard lives.
class Executor {
 public:
  /// What is called while the executor waits.
  struct Watcher {
    std::function<void(std::size_t number)> ended = {};  ///< for each process, as soon as it ends
    std::function<void()> waiting = {};                  ///< about ten times per second
  };

  explicit Executor(const ProcessSettings& settings) : settings_(settings) {}

  void watch(Watcher watcher) { watcher_ = std::move(watcher); }
  /// Starts one more process and returns its number; waits until fewer than `at_once` run. If no
  /// process can be had beside those that run, there are fewer at once from now on. Throws
  /// SimulationError if no process can be had at all.
  std::size_t start(const ChildWork& work);
  /// Waits until that process has ended, and hands it over, once.
  [[nodiscard]] std::unique_ptr<ChildProcess> take(std::size_t number);
  /// Waits until all have ended.
  void finish();

  /// The numbers of the processes that run, ascending.
  [[nodiscard]] const std::vector<std::size_t>& running() const { return running_; }
  /// A process that has not been handed over.
  [[nodiscard]] const ChildProcess& process(std::size_t number) const { return *all_.at(number); }

 private:
  void look();
  void wait_until(const std::function<bool()>& reached);

  ProcessSettings settings_;
  Watcher watcher_;
  std::vector<std::unique_ptr<ChildProcess>> all_;
  std::vector<std::size_t> running_;
};

/// Work, and about how long it takes.
struct Job {
  ChildWork work;
  double expected_s = 0;  ///< wall-clock time
};

struct JobProgress {
  std::size_t ended = 0;
  std::size_t running = 0;
  double left_s = 0;  ///< estimated wall-clock time until all have ended
};

struct JobWatcher {
  std::function<void(std::size_t job)> started = {};
  /// As soon as a job has ended.
  std::function<void(std::size_t job, const ChildProcess& process)> ended = {};
  /// At the begin, after each end, and about ten times per second.
  std::function<void(const JobProgress&)> progress = {};
};

/// Runs jobs, the longest first, which leaves processors idle for the shortest time at the end, unless
/// the settings say in which order.
/// Throws as Executor does, and catches Ctrl-C and SIGTERM meanwhile.
void run_jobs(const std::vector<Job>& jobs, const ProcessSettings& settings,
              const JobWatcher& watcher);

}  // namespace thinwire::run
