// A schedule: the sends, receives and local work of every rank in one run, and what each of them
// has to wait for. Programs are recorded as schedules (recording.hpp), and schedules that come from
// elsewhere run as programs (sim/machine/schedules/).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/base/units.hpp"

namespace thinwire::inline kernel {

enum class ScheduleOpKind : std::uint8_t { send, receive, work };

/// One operation of a rank. The operations that it waits for are those of the same rank, given by
/// their positions in the rank's list.
struct ScheduleOp {
  ScheduleOpKind kind = ScheduleOpKind::work;
  Rank peer;    ///< of a message
  Tag tag;      ///< of a message
  Words words;  ///< of a message
  Seconds work;
  /// Local work occupies the rank's processor of this number. Work and messages of the same
  /// processor begin only when it is idle.
  int processor = 0;
  std::vector<std::uint32_t> after_end = {};    ///< begins when these have ended
  std::vector<std::uint32_t> after_begin = {};  ///< begins when these have begun
};

using RankSchedule = std::vector<ScheduleOp>;

/// By rank.
using Schedule = std::vector<RankSchedule>;

}  // namespace thinwire::inline kernel
