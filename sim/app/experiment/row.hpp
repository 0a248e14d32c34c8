// A result as it is kept: one JSON object a line, with all that is needed to repeat it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/point.hpp"
#include "sim/app/experiment/run.hpp"
#include "sim/core/base/child_process.hpp"

namespace thinwire::experiment {

/// Of the rows of a results file; a change of meaning or name of a field raises it.
inline constexpr int kRowSchema = 2;

enum class Status : std::uint8_t { ok, skipped, failed };

/// A point and what came of it: one line of a results file.
struct Row {
  std::string sweep;  ///< name of the sweep, or "run"
  std::string key;    ///< of the point and the version
  std::string version;
  Point point;
  Status status = Status::ok;
  std::string reason;               ///< why it was skipped or failed
  std::optional<Outcome> outcome;   ///< where status is ok
  double wall_s = 0;                ///< how long the simulation took on this machine
  std::int64_t peak_rss_bytes = 0;  ///< the most memory that it held
};

/// A timeline of a run, for RowRun.
struct TimelineWish {
  TimelineSettings settings = {};
  /// Called in the child process at the end, also of a run that fails: writes the timeline, and
  /// tells in a few words what is in it. Throws SimulationError where it cannot.
  std::function<std::string(const Timeline& timeline)> write = {};
  std::string told = {};  ///< what it told, of a run that did not fail
};

/// A point that runs in a child process: whatever happens there, this process goes on.
class RowRun {
 public:
  /// Starts it, unless it cannot run at all (restriction_of).
  RowRun(std::string sweep, Point point, ChildLimits limits = {}, bool verbose = false,
         TimelineWish* timeline = nullptr, AlphaBetaTime alphabeta = AlphaBetaTime::after);

  /// As ChildProcess::advance.
  [[nodiscard]] bool advance() { return !child_ || child_->advance(); }
  /// Until advance() is true.
  void wait() {
    if (child_) child_->wait();
  }
  /// Of a point that has ended: what became of it. InputError passes through (a platform that
  /// cannot be loaded, say).
  [[nodiscard]] Row finish() const;
  /// Null where none was started.
  [[nodiscard]] const ChildProcess* child() const { return child_.get(); }
  [[nodiscard]] const Point& point() const { return row_.point; }

 private:
  Row row_;
  TimelineWish* timeline_;
  std::chrono::steady_clock::time_point begin_;
  std::unique_ptr<ChildProcess> child_;
};

/// Runs a point in a child process, beside it on the α-β machine where links are shared, and waits
/// for both. Throws as RowRun::finish does.
[[nodiscard]] Row make_row(const std::string& sweep, const Point& point, bool verbose = false,
                           TimelineWish* timeline = nullptr);

/// The row of a point that could not be run.
[[nodiscard]] Row failed_row(const std::string& sweep, const Point& point,
                             const std::string& reason);

[[nodiscard]] Json to_json(const Row& row);
/// Throws InputError that starts with `origin` where this is no row of this schema.
[[nodiscard]] Row row_from(const Json& json, const std::string& origin);

/// What a results file holds.
struct RowsFile {
  std::vector<Row> rows;
  bool truncated = false;  ///< the last line is not complete: its writer was killed
};

/// The rows of JSON Lines. Throws InputError naming the file and line of anything else that is
/// wrong.
[[nodiscard]] RowsFile rows_from(const std::string& text, const std::string& path);
/// Throws InputError where it cannot be read, and as rows_from does.
[[nodiscard]] RowsFile read_rows(const std::string& path);

}  // namespace thinwire::experiment
