// Jobs in child processes, several at a time, each of which leaves a line of a file.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/lines_file.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::experiment {

struct Job {
  double expected_s = 0;          ///< of wall-clock time
  std::optional<ChildWork> work;  ///< nothing where the line is known without it
  /// The line that its child leaves, without the end of line; `ended` is null where there was no
  /// work.
  std::function<std::string(const ChildProcess* ended)> line;
};

struct JobSettings {
  int at_once = 1;
  ChildLimits limits = {};      ///< of each job
  std::size_t done_before = 0;  ///< jobs that an earlier run has done: they count
  const char* what = "points";  ///< the jobs are, for messages
};

struct JobProgress {
  std::size_t done;  ///< here and before
  std::size_t running;
  double left_s;                     ///< of wall-clock time until all have ended; an estimate
  std::optional<std::size_t> ended;  ///< the index of the job that just ended; nothing in between
};

/// Starts the jobs in their order and adds the line of each to the file as it ends. `progress` is
/// told when a job ends, and about ten times a second. Throws InterruptedError after Ctrl-C or
/// SIGTERM, and as LinesFile::append and Job::line do.
void run_jobs(std::vector<Job> jobs, LinesFile& file, const JobSettings& settings,
              const std::function<void(const JobProgress&)>& progress);

}  // namespace thinwire::experiment
