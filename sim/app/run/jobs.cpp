#include "sim/app/run/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::run {

namespace {

struct Running {
  std::size_t job;
  std::unique_ptr<ChildProcess> child;  ///< null if there is no work

  [[nodiscard]] double wall_s() const { return child == nullptr ? 0 : child->wall_s(); }
  [[nodiscard]] bool has_ended() const { return child == nullptr || child->advance(); }
};

void wait_a_moment(const std::vector<Running>& running) {
  std::vector<const ChildProcess*> children;
  for (const Running& one : running) {
    if (one.child == nullptr) return;
    children.push_back(one.child.get());
  }
  constexpr std::chrono::milliseconds kTick{100};
  ChildProcess::wait_for_news(children, kTick);
}

}  // namespace

void run_jobs(std::vector<Job> jobs, results::LinesFile& file, const JobSettings& settings,
              const std::function<void(const JobProgress&)>& progress) {
  const InterruptGuard guard;
  std::vector<Running> running;
  std::size_t next = 0;   // to be started
  double taken_s = 0;     // by the jobs that have ended
  double expected_s = 0;  // of them
  auto at_once = static_cast<std::size_t>(settings.at_once);
  const auto done = [&] { return settings.done_before + next - running.size(); };
  const auto tell = [&](std::optional<std::size_t> ended) {
    const double pace = expected_s > 0 ? taken_s / expected_s : 1;
    double left_s = 0;
    for (std::size_t i = next; i < jobs.size(); ++i) left_s += jobs[i].expected_s;
    for (const Running& one : running) {
      left_s += std::max(0.0, jobs[one.job].expected_s - one.wall_s() / pace);
    }
    progress({done(), running.size(), left_s * pace / settings.at_once, ended});
  };
  tell(std::nullopt);
  while (next < jobs.size() || !running.empty()) {
    for (; next < jobs.size() && running.size() < at_once; ++next) {
      Running started{next, nullptr};
      const std::optional<ChildWork>& work = jobs[next].work;
      try {
        if (work) started.child = std::make_unique<ChildProcess>(*work, settings.limits);
      } catch (const SimulationError&) {
        if (running.empty()) throw;
        at_once = running.size();  // no process can be had beside those
        break;
      }
      running.push_back(std::move(started));
    }
    wait_a_moment(running);
    for (auto one = running.begin(); one != running.end();) {
      if (!one->has_ended()) {
        ++one;
        continue;
      }
      const Running ended = std::move(*one);
      one = running.erase(one);
      taken_s += ended.wall_s();
      expected_s += jobs[ended.job].expected_s;
      file.append(jobs[ended.job].line(ended.child.get()) + '\n');
      tell(ended.job);
    }
    if (InterruptGuard::signal() != 0) {
      file.check_in_place();
      throw InterruptedError(
          fmt::format("interrupted; {} of {} {} are in {}, and the same command goes on", done(),
                      settings.done_before + jobs.size(), settings.what, file.path()));
    }
    tell(std::nullopt);
  }
}

}  // namespace thinwire::run
