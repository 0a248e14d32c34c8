// What a scheme is: a schedule for each rank, its cost model, its restrictions, its registry entry.
// A sparse one is a sparsifier (who selects what) and a collective (how that is summed).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/options.hpp"
#include "algorithms/setup.hpp"
#include "algorithms/sparsifiers/sparsifier.hpp"
#include "algorithms/training_step.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/stream.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// What one rank brings to one iteration: its accumulator (gradient and residual), dense for dense
/// schemes, and for sparse ones the coordinates that can matter (all others count as 0).
using LocalGradient = Stream;

/// What one rank has after an allreduce.
struct Reduced {
  Stream sum;  ///< equal on all ranks
  /// What of the accumulator went into it, for error feedback. Sparse schemes: the coordinates.
  /// Dense ones that send less than the truth (quantised): the values sent; else empty, for all of
  /// it.
  Stream contributed = {};
  SelectionReport selection = {};  ///< of sparse schemes
  /// Words that the rank brought together to make the sum, where those are more than the sum's.
  Words gathered = {};
  /// Words of its own that it sent, where that is not its selection, or its whole dense gradient.
  Words sent = {};
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
  /// The same in an iteration whose backward pass is still to be run: here all of it first, and
  /// what is sent and received is copied between GPU and host where that costs. A scheme that sends
  /// parts as they become ready has its own.
  [[nodiscard]] virtual Task<Reduced> allreduce_in_training(Communicator& comm,
                                                            LocalGradient gradient, int iteration,
                                                            TrainingStep& step);
  /// Selects now, on the rank's own strand, and goes on beside it. `result` is there when the
  /// request has been waited for.
  [[nodiscard]] virtual Task<Request> begin(Communicator& comm, LocalGradient gradient,
                                            int iteration, Reduced& result);
};

/// The backward pass up to where all components from `first` on are ready.
[[nodiscard]] Task<void> run_backward(Communicator& comm, TrainingStep& step, std::int64_t first);
/// Seconds to copy to the host what a rank sends, and back what it gets.
[[nodiscard]] Seconds copying(const WorkPrices& prices, Words sent, Words received);

/// One rank's side of the way in which selections are summed.
class SparseCollective {
 public:
  SparseCollective() = default;
  SparseCollective(const SparseCollective&) = delete;
  SparseCollective& operator=(const SparseCollective&) = delete;
  SparseCollective(SparseCollective&&) = delete;
  SparseCollective& operator=(SparseCollective&&) = delete;
  virtual ~SparseCollective() = default;

  /// Lets the sparsifier select on the ranks that have a say, and sums. `accumulated` is let go as
  /// soon as it is not needed any more.
  [[nodiscard]] virtual Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier,
                                                SparseVector accumulated, int iteration) = 0;
};

/// Messages, words and reductions that follow each other on the critical path: α, β and γ are
/// charged for these.
struct Terms {
  double messages = 0;
  double words = 0;
  double reduced = 0;  ///< words of values that are added to others

  friend Terms operator+(Terms a, Terms b) {
    return {a.messages + b.messages, a.words + b.words, a.reduced + b.reduced};
  }
  friend Terms operator*(double factor, Terms a) {
    return {factor * a.messages, factor * a.words, factor * a.reduced};
  }
};

/// From `low` to `high`; equal where there is one value.
struct Interval {
  Terms low;
  Terms high;

  friend Interval operator+(Interval a, Interval b) { return {a.low + b.low, a.high + b.high}; }
};

[[nodiscard]] inline Interval same(Terms terms) { return {terms, terms}; }

/// What a formula says of one iteration's allreduce.
struct Cost {
  Interval paper;        ///< as the paper's table prints it
  Interval counted;      ///< the same terms with the messages counted instead of rounded up
  Interval lower_order;  ///< what the paper leaves out and a run has: sizes, remainders, folding
  bool exact = false;    ///< a run equals that, given what the scheme's comment asks

  /// What a run costs.
  [[nodiscard]] Interval run() const { return counted + lower_order; }
};

/// ceil(log P): the steps in which messages double.
[[nodiscard]] double ceil_log2(int ranks);

/// How many components the ranks really selected.
struct SelectedCounts {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t total = 0;
};

/// What a cost model is asked for.
struct CostInput {
  int ranks = 1;
  std::int64_t n = 0;  ///< components
  std::int64_t k = 0;  ///< components that each rank selects
  int iteration = 1;
  const Options* options = nullptr;
  /// Where a run is known: a threshold selects more or less than k.
  std::optional<SelectedCounts> selected = {};
  std::optional<std::int64_t> result = {};  ///< components of the reduced gradient, likewise
  /// As in SchemeSetup:
  std::int64_t granule = 1;
  const std::vector<std::int64_t>* tensors = nullptr;
  Seconds alpha = {};
  Seconds beta_per_word = {};

  /// k as it came out, where it was least and most.
  [[nodiscard]] double least() const { return static_cast<double>(selected ? selected->least : k); }
  [[nodiscard]] double most() const { return static_cast<double>(selected ? selected->most : k); }
  [[nodiscard]] bool even() const { return !selected || selected->least == selected->most; }
};

/// A row of a paper's cost table, in formulas (algorithms/formula.hpp) of P, n, k, and the numbers
/// among the scheme's options.
struct PaperCost {
  std::string latency;          ///< in α
  std::string words;            ///< in β; of an interval the lower end
  std::string words_high = {};  ///< the upper end; empty: there is one value
  std::string latency_high = {};
  std::string reduced = "0";  ///< ours, in γ: what the papers leave out
  std::string reduced_high = {};
};

/// The registry entry of a scheme: what it is called, costs and cannot do, and how it is made.
struct SchemeInfo {
  std::string name = {};
  std::string summary = {};
  std::string source = {};  ///< paper, table or equation
  PaperCost paper = {};
  std::string exact_when = {};   ///< a run equals the formula then; empty: it is an interval
  std::string lower_order = {};  ///< what the paper leaves out, in words
  bool dense = false;            ///< takes dense gradients; else sparse ones
  bool quantised = false;        ///< what is sent of values is not all of them
  std::vector<OptionInfo> options = {};
  /// Those options that are periods: every so many iterations the allreduce is another.
  std::vector<std::string> periods = {};
  int settling = 0;  ///< iterations until it does what it goes on to do
  /// Why it cannot run at these P and n, or nothing.
  std::function<std::optional<std::string>(int ranks, std::int64_t n)> restriction =
      [](int, std::int64_t) { return std::nullopt; };
  /// The terms of a run; cost() fills in `paper`, and the reduced words of `counted` by the formula
  /// where it has none.
  std::function<Cost(const CostInput&)> run_cost = {};
  std::function<std::unique_ptr<Scheme>(const SchemeSetup&)> make = {};

  // Of sparse schemes:
  std::string sparsifier = {};  ///< who selects
  Needs sparsifier_needs = Needs::nothing;
  std::vector<OptionInfo> collective_options = {};  ///< those that are not the sparsifier's
  std::function<std::unique_ptr<SparseCollective>(const SchemeSetup&)> collective = {};
  /// What is put around every scheme that this collective makes with a sparsifier.
  std::function<SchemeInfo(SchemeInfo)> decorate = {};
  bool carries_slots = false;
  bool carries_values_of_all = false;
  /// Traffic over that without padding, and the padded elements, where `ranks` select at most
  /// `most` each and `total` together; empty where nothing is padded.
  std::function<double(int ranks, std::int64_t most, std::int64_t total)> padding_factor = {};
  std::function<std::int64_t(int ranks, std::int64_t most, std::int64_t total)> padded_elements =
      {};
  bool selects_together = false;  ///< k is what all ranks select, each in its own part
  /// The result is selected anew, so its size is a k of its own.
  bool selects_result = false;

  [[nodiscard]] Cost cost(const CostInput& in) const;
};

/// Whether a sparse scheme's collective can carry what the sparsifier selects.
[[nodiscard]] bool can_compose(const SchemeInfo& collective, const SparsifierInfo& sparsifier);
/// A sparse scheme of `collective`, an entry without `make`, and a sparsifier. Throws InputError
/// where the collective cannot carry what the sparsifier selects.
[[nodiscard]] SchemeInfo compose(SchemeInfo collective, const SparsifierInfo& sparsifier);

}  // namespace thinwire::algorithms
