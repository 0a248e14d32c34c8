// The parts of a scheme: a schedule for each rank, a cost model, restrictions and a registry entry.
// A sparse scheme is a sparsifier (what is selected) and a collective (how selections are summed).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/options.hpp"
#include "algorithms/setup.hpp"
#include "algorithms/sparsifiers/sparsifier.hpp"
#include "algorithms/stand_ins.hpp"
#include "algorithms/training_step.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/stream.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The input of one rank in one iteration: its accumulator (gradient plus residual). Dense schemes
/// take it dense, sparse ones the coordinates that can matter (all others count as 0).
using LocalGradient = Stream;

/// The result of an allreduce on one rank, or of the collective that the scheme is.
struct Reduced {
  Stream sum = {};  ///< of an allreduce or an allgather: equal on all ranks
  /// The part of the accumulator that went into the sum, for error feedback. Sparse schemes: its
  /// coordinates. Dense schemes that send approximate values: the values sent;
  /// otherwise empty, which means all of it.
  Stream contributed = {};
  /// Sparse schemes: whether the values in `contributed` were sent, not the accumulator's.
  bool sent_approximately = false;
  /// Values that the rank dropped on the way and keeps for its next gradient, of other ranks too.
  SparseVector returned = {};
  SelectionReport selection = {};  ///< sparse schemes only
  /// Words that the rank gathered to compute the sum, if they are not as many as the sum has.
  Words gathered = {};
  /// Words of its own that it sent, if they are not its selection or its whole dense gradient.
  Words sent = {};
  /// Decoding that the caller has to spend (SchemeSetup::decode_later).
  Seconds decoding = {};
  /// Sparse sums: whether the rank has written the sum into a dense vector, or will (`decoding`).
  bool decoded = false;
};

/// The part of a scheme that runs on one rank. It lives through all iterations and keeps state
/// between them (thresholds, boundaries).
class Scheme {
 public:
  Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;
  virtual ~Scheme() = default;

  /// The allreduce of iteration 1, 2, 3 ..., or the other collective that the scheme is, for which
  /// `gradient` is the rank's vector. All ranks call it with the same iteration.
  [[nodiscard]] virtual Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient,
                                                int iteration) = 0;
  /// The allreduce of an iteration whose backward pass has not run yet. This default runs all of it
  /// first, and copies sent and received data between GPU and host at their price. A scheme that
  /// sends parts as they become ready overrides it.
  [[nodiscard]] virtual Task<Reduced> allreduce_in_training(Communicator& comm,
                                                            LocalGradient gradient, int iteration,
                                                            TrainingStep& step);
  /// Selects now, on the rank's own strand; the rest runs concurrently. `result` is valid after the
  /// request has been waited for.
  [[nodiscard]] virtual Task<Request> begin(Communicator& comm, LocalGradient gradient,
                                            int iteration, Reduced& result);
};

/// Runs the backward pass until all components from `first` on are ready.
[[nodiscard]] Task<void> run_backward(Communicator& comm, TrainingStep& step, std::int64_t first);
/// The phase that is charged for what a rank keeps of its gradients.
inline constexpr const char* kErrorFeedback = "error_feedback";
/// Adds what the rank keeps to `components` of its gradient, before it selects from them.
[[nodiscard]] Task<void> remember(Communicator& comm, const TrainingStep& step,
                                  std::int64_t components);
/// Sets what contributed to the sum to zero in what the rank keeps.
[[nodiscard]] Task<void> forget(Communicator& comm, const TrainingStep& step,
                                const SparseVector& contributed);
/// The time, in seconds, to copy to the host what a rank sends, and back what it receives.
[[nodiscard]] Seconds copying(const WorkPrices& prices, Words sent, Words received);
/// The same of an allreduce. `own` are the words of the selection, or of the whole dense gradient,
/// which a rank sends unless the result says otherwise.
[[nodiscard]] Seconds copying(const WorkPrices& prices, const GradientSpace& space, Words own,
                              const Reduced& reduced);

/// The part of a collective that runs on one rank and sums selections.
class SparseCollective {
 public:
  SparseCollective() = default;
  SparseCollective(const SparseCollective&) = delete;
  SparseCollective& operator=(const SparseCollective&) = delete;
  virtual ~SparseCollective() = default;

  /// Lets the sparsifier select on the ranks that take part, and sums. `accumulated` is released as
  /// soon as it is not needed any more.
  [[nodiscard]] virtual Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier,
                                                SparseVector accumulated, int iteration) = 0;
};

/// Messages, words and reductions on the critical path, which are charged with α, β and γ.
struct Terms {
  double messages = 0;
  double words = 0;
  double reduced = 0;  ///< words of values that are added to others
  double seconds = 0;  ///< time that does not depend on the machine, as a protocol's own time

  friend Terms operator+(Terms a, Terms b) {
    return {a.messages + b.messages, a.words + b.words, a.reduced + b.reduced,
            a.seconds + b.seconds};
  }
  friend Terms operator*(double factor, Terms a) {
    return {factor * a.messages, factor * a.words, factor * a.reduced, factor * a.seconds};
  }
};

/// The interval from `low` to `high`; both are equal for a single value.
struct Interval {
  Terms low;
  Terms high;

  friend Interval operator+(Interval a, Interval b) { return {a.low + b.low, a.high + b.high}; }
};

[[nodiscard]] inline Interval same(Terms terms) { return {terms, terms}; }

/// The predicted cost of the allreduce of one iteration.
struct Cost {
  Interval paper;      ///< as printed in the paper's table
  Interval counted;    ///< the same, with exact instead of rounded message counts
  Interval added;      ///< terms that the paper omits: sizes, remainders, folding
  bool exact = false;  ///< a run equals run(), under the conditions of the scheme's comment

  /// The cost of a run.
  [[nodiscard]] Interval run() const { return counted + added; }
};

/// ceil(log P): the number of steps of a doubling schedule.
[[nodiscard]] double ceil_log2(int ranks);

/// How many components the ranks selected in a run, and where.
struct SelectedCounts {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t total = 0;
  /// The most words that a rank received in the split, all phases of it together.
  std::optional<std::int64_t> split_words = {};
};

/// The arguments of a cost model.
struct CostInput {
  int ranks = 1;
  std::int64_t n = 0;  ///< components
  std::int64_t k = 0;  ///< components that each rank selects
  int iteration = 1;
  const Options* options = nullptr;
  /// Set when a run is known: a threshold selects more or less than k.
  std::optional<SelectedCounts> selected = {};
  std::optional<std::int64_t> result = {};  ///< components of the reduced gradient, likewise
  /// The same as in SchemeSetup:
  std::int64_t granule = 1;
  Precision precision = {};
  const std::vector<std::int64_t>* tensors = nullptr;
  Seconds alpha = {};
  Seconds beta_per_word = {};
  int node = 0;
  ReducingSwitches switches = {};

  /// The smallest and the largest selection of a rank: k unless a run is known.
  [[nodiscard]] double least() const { return static_cast<double>(selected ? selected->least : k); }
  [[nodiscard]] double most() const { return static_cast<double>(selected ? selected->most : k); }
  [[nodiscard]] bool even() const { return !selected || selected->least == selected->most; }
  /// The words of a COO entry: 2 with values and indexes of 32 bits.
  [[nodiscard]] double entry() const { return precision.entry(); }
  /// The space of gradients, and the length of a dense one.
  [[nodiscard]] GradientSpace space() const {
    return {.components = n, .granule = granule, .precision = precision};
  }
  [[nodiscard]] std::int64_t dense_words() const { return space().value_words(n).value(); }
};

/// A row of a paper's cost table, as formulas (algorithms/formula.hpp) of P, n, k, and the numeric
/// options of the scheme.
struct PaperCost {
  std::string latency;          ///< factor of α
  std::string words;            ///< factor of β; the lower end of an interval
  std::string words_high = {};  ///< the upper end; empty: the same as the lower
  std::string latency_high = {};
  std::string reduced = "0";  ///< factor of γ: ours, since the papers leave it out
  std::string reduced_high = {};
  bool ours = false;  ///< no paper prints a formula of the scheme's time: it is our own
};

/// What a scheme computes of vectors of n components. Block r of P is part r of such a vector, cut
/// as equally as possible. Only schemes of the same collective can replace one another.
enum class Collective : std::uint8_t {
  allreduce,       ///< every rank ends with the sum of the ranks' vectors
  allgather,       ///< every rank ends with the vector whose block r comes from rank r
  reduce_scatter,  ///< rank r ends with block r of the sum
  alltoall,        ///< rank r ends with block r of every rank's vector, by sender
  ping_pong,       ///< rank 0 and the last rank end with the vector of rank 0, others with nothing
};
/// "reduce_scatter"
[[nodiscard]] std::string name_of(Collective collective);
/// Whether all ranks end with the same result.
[[nodiscard]] constexpr bool same_on_all_ranks(Collective collective) {
  return collective == Collective::allreduce || collective == Collective::allgather;
}

/// The registry entry of a scheme: its name, cost, restrictions and factory.
struct SchemeInfo {
  std::string name = {};
  Collective collective_kind = Collective::allreduce;
  std::string summary = {};  ///< the schedule, in a line
  std::string source = {};   ///< paper, table or equation
  std::string needs = {};    ///< of a run, in words; empty: it takes any P and n
  PaperCost paper = {};
  std::string exact_when = {};  ///< when a run equals the formula; empty: an interval
  std::string added = {};       ///< the terms that the paper omits, in words
  bool dense = false;           ///< takes dense gradients, otherwise sparse ones
  /// What a rank does in an iteration depends on no iteration before.
  bool independent_iterations = false;
  /// Sends approximate values: in few bits, of low rank. With error feedback, what they lack is
  /// carried to the next iteration.
  bool approximate = false;
  /// With fewer than 32 `bits`, it sends the sum in few bits too.
  bool rounds_sums = false;
  /// Dense, but pays in a training for what it keeps of its gradients (remember()).
  bool remembers = false;
  bool takes_tensors = false;  ///< looks at SchemeSetup::tensors
  /// Its messages are rounds of known lengths (rounds.hpp), if nobody looks at values.
  bool takes_rounds = false;
  bool draws = false;        ///< what a rank selects depends on SchemeSetup::seed, too
  bool in_switches = false;  ///< needs switches that sum
  bool copies = false;       ///< pays for the copies that MPI makes (SchemeSetup::copy_per_word)
  bool allocates = false;    ///< and for buffers that it allocates in each call (fresh)
  StandIns stand_ins = {};   ///< few of its ranks or chunks that stand for all
  /// Whether the scheme's messages have a format of their own, with values and indexes of 32 bits or fewer.
  bool own_format = false;
  std::vector<OptionInfo> options = {};
  /// The options that are periods: in every such iteration the allreduce does different work.
  std::vector<std::string> periods = {};
  Settle settle = {};  ///< the sparsifier's
  /// The sparsifier's: how many numbers a rank decides for all.
  std::function<std::int64_t(int ranks, std::int64_t n, std::span<const std::int64_t> tensors)>
      decided = {};
  ExpectedWork expected_work = {};  ///< of its sparsifier
  /// The reason why the scheme cannot run at these P and n, or empty.
  std::function<std::optional<std::string>(int ranks, std::int64_t n)> restriction =
      [](int, std::int64_t) { return std::nullopt; };
  /// The terms of a run; cost() fills in `paper`, and the reduced words of `counted` from the
  /// formula if there are none. Those of a dense scheme that sends whole values count a word for
  /// each, which cost() scales to the precision; other schemes use CostInput::precision.
  std::function<Cost(const CostInput&)> run_cost = {};
  std::function<std::unique_ptr<Scheme>(const SchemeSetup&)> make = {};

  // Sparse schemes only:
  std::string sparsifier = {};  ///< the sparsifier's name
  Needs sparsifier_needs = Needs::nothing;
  bool fixed_count = false;                         ///< its sparsifier selects k on every rank
  std::vector<OptionInfo> collective_options = {};  ///< without the sparsifier's
  std::function<std::unique_ptr<SparseCollective>(const SchemeSetup&)> collective = {};
  /// Wraps every scheme composed of this collective and a sparsifier.
  std::function<SchemeInfo(SchemeInfo)> decorate = {};
  bool one_selects = false;  ///< in each iteration one rank selects for all
  bool carries_slots = false;
  bool carries_values_of_all = false;
  /// The traffic relative to that without padding, and the number of padded elements, when `ranks`
  /// ranks select at most `most` each and `total` together; empty when nothing is padded.
  std::function<double(int ranks, std::int64_t most, std::int64_t total)> padding_factor = {};
  std::function<std::int64_t(int ranks, std::int64_t most, std::int64_t total)> padded_elements =
      {};
  bool selects_together = false;  ///< k is the number selected by all ranks together, each in its
                                  ///< own part
  /// The result is a selection too, so its size is itself about k.
  bool selects_result = false;
  /// Sums lose entries on their way: what a rank contributed to the result may be missing from it.
  bool drops_partial_sums = false;
  /// What sums lose comes back to the ranks that dropped it (Reduced::returned): to which ones
  /// depends on the messages.
  bool returns_dropped = false;

  [[nodiscard]] Cost cost(const CostInput& in) const;
};

/// Whether the collective of a sparse scheme can carry the selection of the sparsifier.
[[nodiscard]] bool can_compose(const SchemeInfo& collective, const SparsifierInfo& sparsifier);
/// Composes a sparse scheme of `collective`, an entry without `make`, and a sparsifier. Throws
/// InputError when the collective cannot carry the selection of the sparsifier.
[[nodiscard]] SchemeInfo compose(SchemeInfo collective, const SparsifierInfo& sparsifier);

}  // namespace thinwire::algorithms
