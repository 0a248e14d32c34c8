// A stored result: one JSON object per line, with all that is needed to repeat it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/results/outcome.hpp"

namespace thinwire::results {

/// The schema version of rows; it increases when a field changes its meaning or its name.
inline constexpr int kRowSchema = 2;

enum class Status : std::uint8_t { ok, skipped, failed };
[[nodiscard]] const char* name_of(Status status);

/// A point and its result: one line of a results file.
struct Row {
  std::string sweep;  ///< name of the sweep, or "run"
  std::string key;    ///< key_of(point)
  std::string version;
  plan::Point point;
  std::vector<std::string> unused = {};  ///< settings that were given and that nothing read
  Status status = Status::ok;
  std::string reason;               ///< why it was skipped or failed
  std::optional<Outcome> outcome;   ///< if status is ok
  double wall_s = 0;                ///< how long the simulation took on this machine
  std::int64_t peak_rss_bytes = 0;  ///< peak resident memory of the simulation
};

/// The row of a point that could not be run.
[[nodiscard]] Row failed_row(const std::string& sweep, const plan::Point& point,
                             const std::string& reason);

[[nodiscard]] Json to_json(const Row& row);
/// Throws InputError that starts with `origin` if this is not a row of this schema.
[[nodiscard]] Row row_from(const Json& json, const std::string& origin);

}  // namespace thinwire::results
