// A result as it is kept: one JSON object a line, with all that is needed to repeat it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/point.hpp"
#include "sim/experiment/run.hpp"

namespace thinwire {

/// Of the rows of a results file; a change of meaning or name of a field raises it.
inline constexpr int kRowSchema = 2;

enum class Status : std::uint8_t { ok, skipped, failed };

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

/// A timeline of a run, for make_row.
struct TimelineWish {
  TimelineSettings settings = {};
  /// Called in the child process at the end, also of a run that fails: writes the timeline, and
  /// tells in a few words what is in it. Throws SimulationError where it cannot.
  std::function<std::string(const Timeline& timeline)> write = {};
  std::string told = {};  ///< what it told, of a run that did not fail
};

/// Runs a point in a child process and reports what became of it: whatever happens there, this
/// process goes on. InputError passes through (a platform that cannot be loaded, say).
[[nodiscard]] Row make_row(const std::string& sweep, const Point& point, bool verbose = false,
                           TimelineWish* timeline = nullptr);

/// The row of a point that could not be run.
[[nodiscard]] Row failed_row(const std::string& sweep, const Point& point,
                             const std::string& reason);

[[nodiscard]] Json to_json(const Row& row);
/// Throws InputError that starts with `origin` where this is no row of this schema.
[[nodiscard]] Row row_from(const Json& json, const std::string& origin);

struct RowsFile {
  std::vector<Row> rows;
  bool truncated = false;  ///< the last line is not complete: its writer was killed
};

/// Reads JSON Lines. Throws InputError naming the file and line of anything else that is wrong.
[[nodiscard]] RowsFile read_rows(const std::string& path);

}  // namespace thinwire
