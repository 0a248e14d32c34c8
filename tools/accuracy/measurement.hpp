// Measures one cell on one network: simulates it in a child process, and keeps the result as a line
// of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "tools/accuracy/cells.hpp"

namespace thinwire::accuracy {

/// The schema version of the lines; any change of a field's meaning or name raises it.
inline constexpr const char* kMeasurementSchema = "thinwire.accuracy/1";

enum class CellStatus : std::uint8_t { ok, failed, too_slow };

/// The result of a cell on a network.
struct Measurement {
  Cell cell;
  Side side;
  std::string platform_hash;  ///< hash of the platform's file
  /// The program version that determines the result: SimGrid's for smpi, otherwise Thinwire's.
  std::string program;
  CellStatus status = CellStatus::ok;
  std::string reason = {};                 ///< if status is not ok
  double time_s = 0;                       ///< simulated time
  std::optional<double> alphabeta_s = {};  ///< time on the α-β machine; smpi only
  std::int64_t messages = 0;               ///< of all ranks
  std::int64_t words = 0;                  ///< of all ranks
  double wall_s = 0;                       ///< wall-clock time on this machine
  double limit_s = 0;                      ///< its wall-clock limit
  std::int64_t peak_rss_bytes = 0;
};

[[nodiscard]] const char* name_of(CellStatus status);
[[nodiscard]] Json or_null(std::optional<double> value);
[[nodiscard]] Json to_json(const Measurement& measurement);
/// Parses JSON Lines, the last of which may be incomplete. Throws InputError naming the file and
/// the line of any other error.
[[nodiscard]] std::vector<Measurement> measurements_from(const std::string& text,
                                                         const std::string& path);

/// The version on which results of the network depend besides cell, settings and platform.
[[nodiscard]] std::string program_of(const std::string& network);

/// The work of a child process that simulates a cell by its `point`.
[[nodiscard]] ChildWork work_of(const Cell& cell, const plan::Point& point);
/// The measurement by a child that has ended. `wanted` gives cell, side, platform_hash, program and
/// limit_s; the rest comes from the child.
[[nodiscard]] Measurement measured(Measurement wanted, const plan::Point& point,
                                   const ChildProcess& child);

}  // namespace thinwire::accuracy
