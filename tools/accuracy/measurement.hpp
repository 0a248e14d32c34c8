// One cell on one network: simulated in a child process, and kept as a line of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "tools/accuracy/cells.hpp"

namespace thinwire::accuracy {

/// Of the lines; a change of meaning or name of a field raises it.
inline constexpr const char* kMeasurementSchema = "thinwire.accuracy/1";

enum class CellStatus : std::uint8_t { ok, failed, too_slow };

/// What a cell gave on a network.
struct Measurement {
  Cell cell;
  Side side;
  std::string platform_hash;  ///< of the platform's file
  /// Of what a result depends on: SimGrid's version for smpi, else Thinwire's.
  std::string program;
  CellStatus status = CellStatus::ok;
  std::string reason = {};                 ///< where status is not ok
  double time_s = 0;                       ///< simulated
  std::optional<double> alphabeta_s = {};  ///< without others on the links; of smpi
  std::int64_t messages = 0;               ///< of all ranks
  std::int64_t words = 0;                  ///< of all ranks
  double wall_s = 0;                       ///< of this machine
  double limit_s = 0;                      ///< what it was given
  std::int64_t peak_rss_bytes = 0;
};

[[nodiscard]] const char* name_of(CellStatus status);
[[nodiscard]] Json or_null(std::optional<double> value);
[[nodiscard]] Json to_json(const Measurement& measurement);
/// Of JSON Lines, whose last one may be cut off. Throws InputError naming the file and the line of
/// anything else.
[[nodiscard]] std::vector<Measurement> measurements_from(const std::string& text,
                                                         const std::string& path);

/// What results of the network depend on beside cell, settings and platform.
[[nodiscard]] std::string program_of(const std::string& network);

/// What a child process has to do to simulate a cell; `point` is the cell's.
[[nodiscard]] ChildWork work_of(const Cell& cell, const experiment::Point& point);
/// `wanted` says cell, side, platform_hash, program and limit_s; the rest is of the child, which
/// has ended.
[[nodiscard]] Measurement measured(Measurement wanted, const experiment::Point& point,
                                   const ChildProcess& child);

}  // namespace thinwire::accuracy
