// One cell on one network: simulated in a child process, and kept as a line of JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
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

[[nodiscard]] Json to_json(const Measurement& measurement);
/// Of JSON Lines, whose last one may be cut off. Throws InputError naming the file and the line of
/// anything else.
[[nodiscard]] std::vector<Measurement> measurements_from(const std::string& text,
                                                         const std::string& path);

/// What results of the network depend on beside cell, settings and platform.
[[nodiscard]] std::string program_of(const std::string& network);
/// 16 hexadecimal digits. Throws InputError where the file cannot be read.
[[nodiscard]] std::string hash_of_file(const std::string& path);

/// A cell that runs on a network in a child process.
class CellRun {
 public:
  /// `wanted` says cell, side, platform_hash, program and limit_s. Throws as point_of and
  /// ChildProcess do.
  CellRun(Measurement wanted, const std::string& platform_file);

  [[nodiscard]] bool advance() { return child_->advance(); }
  [[nodiscard]] const ChildProcess* child() const { return child_.get(); }
  /// Of one that has ended.
  [[nodiscard]] Measurement finish() const;

 private:
  Measurement wanted_;
  std::chrono::steady_clock::time_point begin_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace thinwire::accuracy
