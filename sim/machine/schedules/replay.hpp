// Schedules that were read, and the program of the ranks of any network that runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/base/checked.hpp"
#include "sim/core/kernel/in_switches.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/schedule.hpp"

namespace thinwire::schedules {

/// Sends of any size are eager.
inline constexpr Bytes kAllEager{std::int64_t{1} << 60};

/// A collective of a trace.
enum class CollectiveKind : std::uint8_t {
  allreduce,
  allgather,
  reduce_scatter,
  alltoall,
  broadcast,
  barrier
};

/// What some ranks do together. The k-th such call of a rank belongs to the k-th of the others.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::allreduce;
  std::int64_t bytes = 0;  ///< that each rank has before it
  Members members;         ///< its ranks
  int root = 0;            ///< of a broadcast, among the members
};

/// The ranks of process groups, in order, by the names that a trace has for them.
using ProcessGroups = std::map<std::string, std::vector<std::int32_t>>;

/// A schedule from a file.
struct ReadSchedule {
  Schedule ops;
  std::string origin;               ///< the file or folder
  std::string place = "operation";  ///< what `places` counts: "line" or "node"
  /// By rank and operation: where it is in the file. Empty: operations are counted from 1.
  std::vector<std::vector<std::uint64_t>> places = {};
  /// Sends up to this size are complete before their receive is posted: what the file states, else
  /// the limit of the simulator whose format it is.
  Bytes eager{0};
  /// By rank and operation, which is local work of no time in `ops`.
  std::vector<std::map<std::uint32_t, CollectiveCall>> collectives = {};
  std::shared_ptr<const ProcessGroups> groups = {};  ///< that members of collectives point into
  std::vector<std::string> notes = {};               ///< what a user should know, a sentence each

  /// "rank 2, line 7".
  [[nodiscard]] std::string place_of(std::size_t rank, std::size_t op) const;
};

/// What a schedule holds, over all ranks. Collectives are not counted.
struct ScheduleTotals {
  std::int64_t operations = 0;
  std::int64_t messages = 0;
  Words words;
  Seconds work;
};

/// The schedule must be one that check_schedule() accepts, or one that was recorded.
[[nodiscard]] ScheduleTotals totals_of(const Schedule& schedule);

/// Throws InputError, which begins with the origin and names the place, if a peer is no rank, an
/// operation waits for one that does not exist, operations wait for each other in a circle, or all
/// messages together have more than kLargestSize.
void check_schedule(const ReadSchedule& schedule);

/// Why a run of the schedule has failed: follows it without a clock, with sends up to `eager` that do
/// not wait for their receives. Throws DeadlockError, with the places of operations that wait for each
/// other, if it comes to no end, and InputError if a receive has room for fewer words than are sent
/// to it.
void check_progress(const ReadSchedule& schedule, Bytes eager);

/// Runs a collective on the group of its ranks.
using RunCollective = std::function<Task<void>(Communicator& group, const CollectiveCall& call)>;

struct ReplayWishes {
  /// Sends up to this size are complete for the schedule as soon as they are posted, on networks
  /// that know no eager messages. They travel when their receive is posted.
  Bytes eager_here{0};
  RunCollective collective = {};  ///< needed where the schedule has collectives
};

/// The program of a schedule that check_schedule() accepts, for as many ranks as it has; the
/// schedule must outlive the run. A rank begins an operation as soon as it may, and of several the
/// one that is listed first. If it has to wait and one operation comes next, it waits for what this
/// one needs, one after the other; if several may come next, for whatever ends first. Its send
/// says how many words a message has. Collectives of a rank are on its second strand, one after the
/// other. Throws SimulationError if a receive has room for fewer words than are sent to it.
[[nodiscard]] RankProgram replay_of(const ReadSchedule& schedule, ReplayWishes wishes = {});

}  // namespace thinwire::schedules
