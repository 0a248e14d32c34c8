#include "sim/app/run/executor.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::run {

void Executor::look() {
  std::vector<std::size_t> ended;
  std::erase_if(running_, [&](std::size_t number) {
    const bool has_ended = all_[number]->advance();
    if (has_ended) ended.push_back(number);
    return has_ended;
  });
  if (!watcher_.ended) return;
  for (const std::size_t number : ended) watcher_.ended(number);
}

void Executor::wait_until(const std::function<bool()>& reached) {
  constexpr std::chrono::milliseconds kTick{100};
  while (true) {
    look();
    InterruptGuard::check();
    if (reached()) return;
    if (watcher_.waiting) watcher_.waiting();
    std::vector<const ChildProcess*> processes;
    for (const std::size_t number : running_) processes.push_back(all_[number].get());
    ChildProcess::wait_for_news(processes, kTick);
  }
}

std::size_t Executor::start(const ChildWork& work) {
  while (true) {
    const auto most = static_cast<std::size_t>(settings_.at_once);
    wait_until([&] { return running_.size() < most; });
    try {
      all_.push_back(std::make_unique<ChildProcess>(work, settings_.limits, settings_.verbose));
      running_.push_back(all_.size() - 1);
      return running_.back();
    } catch (const SimulationError&) {
      if (running_.empty()) throw;
      settings_.at_once = static_cast<int>(running_.size());
    }
  }
}

std::unique_ptr<ChildProcess> Executor::take(std::size_t number) {
  const auto runs = [&] { return std::ranges::binary_search(running_, number); };
  if (runs()) wait_until([&] { return !runs(); });
  return std::move(all_.at(number));
}

void Executor::finish() {
  wait_until([this] { return running_.empty(); });
}

void run_jobs(const std::vector<Job>& jobs, const ProcessSettings& settings,
              const JobWatcher& watcher) {
  const InterruptGuard guard;
  std::vector<std::size_t> order(jobs.size());  // the job of each process
  std::iota(order.begin(), order.end(), 0);
  const auto expected_of = [&](std::size_t job) { return jobs[job].expected_s; };
  if (!settings.in_order) std::ranges::stable_sort(order, std::ranges::greater(), expected_of);
  double to_start_s = 0;  // expected of the jobs that have not been started
  for (const Job& job : jobs) to_start_s += job.expected_s;
  double expected_s = 0;  // of those that have ended,
  double taken_s = 0;     // and what they took
  std::size_t ended = 0;
  Executor executor(settings);
  const auto tell = [&] {
    if (!watcher.progress) return;
    const double pace = expected_s > 0 ? taken_s / expected_s : 1;
    double left_s = std::max(0.0, to_start_s);
    for (const std::size_t number : executor.running()) {
      const double done_s = executor.process(number).wall_s() / pace;
      left_s += std::max(0.0, expected_of(order[number]) - done_s);
    }
    watcher.progress({.ended = ended,
                      .running = executor.running().size(),
                      .left_s = left_s * pace / settings.at_once});
  };
  const auto end = [&](std::size_t number) {
    const std::unique_ptr<ChildProcess> process = executor.take(number);
    taken_s += process->wall_s();
    expected_s += expected_of(order[number]);
    ++ended;
    if (watcher.ended) watcher.ended(order[number], *process);
    tell();
  };
  executor.watch({.ended = end, .waiting = tell});
  tell();
  for (const std::size_t job : order) {
    executor.start(jobs[job].work);
    to_start_s -= expected_of(job);
    if (watcher.started) watcher.started(job);
  }
  executor.finish();
}

}  // namespace thinwire::run
