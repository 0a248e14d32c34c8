// Runs jobs in child processes, several at a time; each job adds one line to a file.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/results/lines_file.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::run {

struct Job {
  double expected_s = 0;          ///< wall-clock time
  std::optional<ChildWork> work;  ///< nothing if the line is known without work
  /// Returns the line of the job, without the end of line; `ended` is null if there was no work.
  std::function<std::string(const ChildProcess* ended)> line;
};

struct JobSettings {
  int at_once = 1;
  ChildLimits limits = {};      ///< for each job
  std::size_t done_before = 0;  ///< jobs that an earlier run has completed; included in the counts
  const char* what = "points";  ///< the noun for the jobs, for messages
};

struct JobProgress {
  std::size_t done;  ///< in this run and before
  std::size_t running;
  double left_s;                     ///< estimated wall-clock time until all have ended
  std::optional<std::size_t> ended;  ///< the job that just ended; nothing in between
};

/// Starts the jobs in order and adds the line of each to the file as it ends. Calls `progress` when
/// a job ends and about ten times per second. Throws InterruptedError after Ctrl-C or SIGTERM, and
/// as LinesFile::append and Job::line do.
void run_jobs(std::vector<Job> jobs, results::LinesFile& file, const JobSettings& settings,
              const std::function<void(const JobProgress&)>& progress);

}  // namespace thinwire::run
