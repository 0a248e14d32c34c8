// Several jobs at once on one platform. Each has ranks, hosts, a scheme and a workload of its own;
// their messages share the links of the network `links` and delay each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/app/plan/config.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::studies {

/// A job. `point.iterations` iterations count, after one to warm up; 0 means two.
struct Job {
  std::string name;
  plan::Point point;
  Seconds start{0};  ///< before its first iteration
};

/// The times of a job, in the mean over its iterations that count.
struct JobTimes {
  Job job;
  std::vector<std::string> hosts;  ///< by rank
  Seconds alone{0};  ///< on the same hosts, without the other jobs; the same iterations
  Seconds together{0};
  int counted = 0;  ///< iterations of `together`

  /// together / alone; 1 for a job that takes no time.
  [[nodiscard]] double slowdown() const;
};

/// Reads {"base": {...}, "jobs": [{"name": ..., "start_s": ..., ...}, ...]}: the members of `base`
/// and of a job are settings of a point, and a job's go over `base`'s. The network is
/// `links`. Throws InputError for jobs of one name and for jobs that differ in settings of the
/// platform, which belong into `base`.
[[nodiscard]] std::vector<Job> jobs_from(const Json& config, const std::string& origin);

/// Runs each job alone and all of them together. A job takes the first hosts in the order of its
/// placement that no job before it has; a placement by a file takes the hosts that the file names.
/// Every job repeats its iterations until all jobs have done theirs, so that an iteration counts
/// only if all jobs ran from its begin to its end. A job whose iterations are not alike (periods,
/// error feedback) runs the iterations that count alone, too. `progress` is told what is simulated.
/// Throws InputError if the hosts do not suffice, or if two jobs would share a host.
[[nodiscard]] std::vector<JobTimes> run_together(
    const std::vector<Job>& jobs, bool verbose,
    const std::function<void(const std::string&)>& progress);

}  // namespace thinwire::studies
