// A network runs one program on P ranks and tells what it cost. Implementations are in
// sim/machine/networks/, one folder each; nothing else in the tree knows which one runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/ledger.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::inline kernel {

class Timeline;

/// What a run cost one rank.
struct RankReport {
  Seconds finished;  ///< when the rank's program, and all it started, ended (0 without a clock)
  std::int64_t steps = 0;  ///< counting network only: length of the longest chain of messages
  /// Indexed like RunReport::phases, of both strands. They may be in phases at the same time, so
  /// the times may add up to more than `finished`.
  std::vector<Traffic> by_phase;

  [[nodiscard]] Traffic total() const;
};

/// What one link of a platform carried in one run, in one direction.
struct LinkReport {
  std::string name;
  double bandwidth = 0;         ///< bytes a second
  Bytes carried;                ///< of messages that crossed it
  double mean_utilisation = 0;  ///< what it carried, over what it could have in the makespan
  double peak_utilisation = 0;  ///< the largest share of its bandwidth in use at any time
};

/// What a run cost.
struct RunReport {
  std::vector<std::string> phases;
  std::vector<RankReport> ranks;
  std::vector<LinkReport> links = {};  ///< that carried something, where it was asked for

  [[nodiscard]] Seconds makespan() const;
  [[nodiscard]] std::int64_t steps() const;
};

/// Makes the coroutine that one rank runs. Called once for each rank; the Communicator outlives it.
using RankProgram = std::function<Task<void>(Communicator&)>;

/// One simulated machine.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;
  virtual ~Network() = default;

  /// Runs `program` on ranks 0 .. ranks-1, which start together at time 0, and all that they start.
  /// Rethrows what a rank threw; DeadlockError and UnmatchedError as their names say.
  virtual RunReport run(int ranks, const RankProgram& program) = 0;

  /// Tells `timeline`, which outlives the runs to come, what happens in them; nullptr: nobody. One
  /// without a clock has nothing to tell.
  void record(Timeline* timeline) { timeline_ = timeline; }

 protected:
  [[nodiscard]] Timeline* timeline() const { return timeline_; }

 private:
  Timeline* timeline_ = nullptr;
};

}  // namespace thinwire::inline kernel
