// A result as it is kept: one JSON object a line, with all that is needed to repeat it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/app/experiment/point.hpp"
#include "sim/app/experiment/run.hpp"

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

/// The row of a point that could not be run.
[[nodiscard]] Row failed_row(const std::string& sweep, const Point& point,
                             const std::string& reason);

[[nodiscard]] Json to_json(const Row& row);
/// Throws InputError that starts with `origin` where this is no row of this schema.
[[nodiscard]] Row row_from(const Json& json, const std::string& origin);

}  // namespace thinwire::experiment
