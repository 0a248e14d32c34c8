// The texts of two benchmarks of collectives, nccl-tests and the OSU micro-benchmarks, so that what
// reads their output reads simulated times too.
#pragma once

#include <string>
#include <vector>

#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// Throws InputError for a training, and on a network without a clock.
void check_benchmark_point(const plan::Point& point);

/// One table for each scheme, number of ranks and so on, in the order of the rows: a line for each
/// size. Failed and skipped rows are comments. Times are the slowest rank's, the mean over the
/// scheme's kinds of iterations. Both throw InputError as check_benchmark_point() does.
///
/// nccl-tests: sizes in bytes, the elements that a rank sends or keeps, microseconds, algorithm and
/// bus bandwidth in 10^9 bytes/s. What is in place takes as long as what is not; #wrong is 0, since
/// rows whose ranks end with different results have failed.
[[nodiscard]] std::string nccl_tests_text(const std::vector<results::Row>& rows);
/// OSU: sizes in bytes, for allgather and alltoall the size of one rank's block, and microseconds.
[[nodiscard]] std::string osu_text(const std::vector<results::Row>& rows);

}  // namespace thinwire::report
