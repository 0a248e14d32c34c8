// What a scheme is: a schedule for each rank, its cost model, its restrictions, its registry entry.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/options.hpp"
#include "sim/core/communicator.hpp"
#include "sim/core/task.hpp"
#include "sim/gradient/reduction.hpp"
#include "sim/gradient/stream.hpp"

namespace thinwire {

/// What one rank brings to one iteration: its accumulator (gradient and residual), dense for dense
/// schemes, and for sparse ones the coordinates that can matter (all others count as 0).
using LocalGradient = Stream;

struct Reduced {
  Stream sum;                ///< equal on all ranks
  SparseVector contributed;  ///< the local entries that went into it: error feedback clears these
};

/// What every scheme needs to know. One for each simulation, shared by the ranks' schemes.
struct SchemeSetup {
  int ranks = 1;
  GradientSpace space;
  std::int64_t k = 0;  ///< components that each rank wants to select; a multiple of space.granule
  Seconds gamma;       ///< seconds a reduced word
  Options options;
  SharedWork* shared = nullptr;

  /// k in carried coordinates.
  [[nodiscard]] std::int64_t carried_k() const { return k / space.granule; }
};

/// One rank's side of a scheme. Lives through the iterations and keeps what they hand on
/// (thresholds, boundaries).
class Scheme {
 public:
  Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;
  Scheme(Scheme&&) = delete;
  Scheme& operator=(Scheme&&) = delete;
  virtual ~Scheme() = default;

  /// The allreduce of iteration 1, 2, 3 ... All ranks call it with the same iteration.
  [[nodiscard]] virtual Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient,
                                                int iteration) = 0;
};

/// Messages and words that follow each other on the critical path: α and β are charged for these.
struct Terms {
  double messages = 0;
  double words = 0;

  friend Terms operator+(Terms a, Terms b) { return {a.messages + b.messages, a.words + b.words}; }
};

/// From `low` to `high`; equal where there is one value.
struct Interval {
  Terms low;
  Terms high;
};

/// What a formula says of one iteration's allreduce.
struct Cost {
  Interval paper;        ///< as the paper's table prints it
  Interval counted;      ///< the same terms with the messages counted instead of rounded up
  Interval lower_order;  ///< what the paper leaves out and a run has: sizes, remainders, folding
  bool exact = false;  ///< a run equals counted + lower_order, given what the scheme's comment asks
};

struct CostInput {
  int ranks = 1;
  std::int64_t n = 0;  ///< components
  std::int64_t k = 0;  ///< components that each rank selects
  int iteration = 1;
  const Options* options = nullptr;
};

struct SchemeInfo {
  std::string name;
  std::string summary;
  std::string source;     ///< paper, table or equation
  std::string latency;    ///< the paper's latency term, in α
  std::string bandwidth;  ///< the paper's bandwidth term, in β
  bool dense = false;     ///< takes dense gradients; else sparse ones
  std::vector<OptionInfo> options;
  /// Why it cannot run at these P and n, or nothing.
  std::function<std::optional<std::string>(int ranks, std::int64_t n)> restriction;
  std::function<Cost(const CostInput&)> cost;
  std::function<std::unique_ptr<Scheme>(const SchemeSetup&)> make;
};

}  // namespace thinwire
