// A network runs one program on P ranks and reports its cost. Implementations are in
// sim/machine/networks/, one folder each; no other code depends on which of them runs.
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

/// The cost of a run for one rank.
struct RankReport {
  Seconds finished;        ///< when the rank's program and all it started ended (0 without a clock)
  std::int64_t steps = 0;  ///< counting network only: length of the longest chain of messages
  /// Indexed like RunReport::phases; the sum over both strands. The strands may be in phases at the
  /// same time, so the times may add up to more than `finished`.
  std::vector<Traffic> by_phase;

  [[nodiscard]] Traffic total() const;
};

/// The load of one link of a platform in one run, in one direction.
struct LinkReport {
  std::string name;
  double bandwidth = 0;         ///< bytes per second
  Bytes carried;                ///< of messages that crossed it
  double mean_utilisation = 0;  ///< carried bytes over the capacity during the makespan
  double peak_utilisation = 0;  ///< the largest share of its bandwidth in use at any time
};

/// The cost of a run.
struct RunReport {
  std::vector<std::string> phases;
  std::vector<RankReport> ranks;
  std::vector<LinkReport> links = {};  ///< those that carried something, if requested

  [[nodiscard]] Seconds makespan() const;
  [[nodiscard]] std::int64_t steps() const;
};

/// Creates the coroutine of a rank. Called once per rank; the Communicator outlives the coroutine.
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
  /// Rethrows what a rank threw; throws DeadlockError and UnmatchedError.
  virtual RunReport run(int ranks, const RankProgram& program) = 0;

  /// Reports the following runs to `timeline`, which must outlive them; nullptr ends this. A
  /// network without a clock reports nothing.
  void record(Timeline* timeline) { timeline_ = timeline; }

 protected:
  [[nodiscard]] Timeline* timeline() const { return timeline_; }

 private:
  Timeline* timeline_ = nullptr;
};

}  // namespace thinwire::inline kernel
