// A network runs one program on P ranks and reports its cost. Implementations are in
// sim/machine/networks/, one folder each; no other code depends on which of them runs.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/ledger.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::inline kernel {

class Timeline;

/// The cost of a run for one rank.
struct RankReport {
  Seconds finished;        ///< end of its program and all that it started (0 without a clock)
  std::int64_t steps = 0;  ///< counting network only: length of the longest chain of messages
  /// The sum over both strands, indexed like RunReport::phases. The strands may be in phases at the
  /// same time, so the times may add up to more than `finished`.
  std::vector<Traffic> by_phase;

  [[nodiscard]] Traffic total() const;
};

/// The load of one link of a platform in one run, in one direction.
struct LinkReport {
  std::string name;
  double bandwidth = 0;         ///< bytes per second
  Bytes carried;                ///< bytes of the messages that crossed it
  double mean_utilisation = 0;  ///< carried bytes divided by the capacity during the makespan
  double peak_utilisation = 0;  ///< the largest share of its bandwidth in use at any time
};

/// The cost of a run.
struct RunReport {
  std::vector<std::string> phases;
  std::vector<RankReport> ranks;
  std::vector<LinkReport> links = {};  ///< the links that carried something, if requested

  [[nodiscard]] Seconds makespan() const;
  [[nodiscard]] std::int64_t steps() const;
};

/// Whether a rank sent and received as many messages and words in every phase of one run as in that
/// of another. Times do not matter, nor the order of the phases.
[[nodiscard]] bool same_traffic(const RunReport& a, const RunReport& b, std::size_t rank);

/// Creates the coroutine of a rank. The network calls it once per rank. The Communicator outlives
/// the coroutine.
using RankProgram = std::function<Task<void>(Communicator&)>;

/// A run was stopped, since it takes longer than Network::give_up_after() allows.
class TooSlowError : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// One simulated machine.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  /// Runs `program` on ranks 0 .. ranks-1, which start together at time 0, and the programs that
  /// they start. Rethrows the exception of a rank. Throws DeadlockError if ranks wait forever, and
  /// UnmatchedError if messages or receives remain unmatched.
  virtual RunReport run(int ranks, const RankProgram& program) = 0;

  /// Reports the following runs to `timeline`, which must outlive them; nullptr ends the reports. A
  /// network without a clock reports nothing.
  void record(Timeline* timeline) { timeline_ = timeline; }
  /// A following run that is bound to take longer than `limit` of simulated time may throw
  /// TooSlowError, as soon as that is known. Networks that cannot know run to the end.
  void give_up_after(Seconds limit) { limit_ = limit; }

 protected:
  [[nodiscard]] Timeline* timeline() const { return timeline_; }
  [[nodiscard]] Seconds limit() const { return limit_; }

 private:
  Timeline* timeline_ = nullptr;
  Seconds limit_{std::numeric_limits<double>::infinity()};
};

}  // namespace thinwire::inline kernel
