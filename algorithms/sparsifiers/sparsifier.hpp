// A sparsifier decides which entries of a rank's accumulator are sent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/options.hpp"
#include "algorithms/setup.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::algorithms {

/// The device's work for a selection, in components, to be priced by a device profile.
struct SelectionWork {
  std::int64_t scanned = 0;        ///< read, to compute sums or copy the selection
  std::int64_t compared = 0;       ///< compared with a threshold
  std::int64_t sorted = 0;         ///< input of an exact top-k selection
  std::int64_t hashed = 0;         ///< written to a slot of a hash table
  std::int64_t sampled = 0;        ///< drawn at random
  std::int64_t prefix_summed = 0;  ///< input of a compaction: selected entries copied in order
  std::int64_t retries = 0;        ///< thresholds tried after the first: calls, not components
  std::int64_t more_scans = 0;     ///< calls after the first, where parts are read one by one
  std::int64_t more_topks = 0;     ///< likewise, where the selection is made in each part

  friend SelectionWork operator+(SelectionWork a, const SelectionWork& b);
  [[nodiscard]] Seconds cost(const WorkPrices& prices) const;
};

/// The kinds of work, by name.
inline constexpr std::array<std::pair<const char*, std::int64_t SelectionWork::*>, 9> kWorkKinds{
    {{"scanned", &SelectionWork::scanned},
     {"compared", &SelectionWork::compared},
     {"sorted", &SelectionWork::sorted},
     {"hashed", &SelectionWork::hashed},
     {"sampled", &SelectionWork::sampled},
     {"prefix_summed", &SelectionWork::prefix_summed},
     {"retries", &SelectionWork::retries},
     {"more_scans", &SelectionWork::more_scans},
     {"more_topks", &SelectionWork::more_topks}}};

inline SelectionWork operator+(SelectionWork a, const SelectionWork& b) {
  for (const auto& [name, kind] : kWorkKinds) a.*kind += b.*kind;
  return a;
}

/// The selection of a rank in one iteration.
struct Selection {
  SparseVector selected;
  SelectionWork work = {};
  /// Coordinates that are sent, if more than the selected ones (empty slots of a hash table).
  std::int64_t slots = 0;
  bool own_part = false;  ///< no other rank selects these coordinates
  /// The same by block, if a number of entries of each was selected (block_topk).
  std::vector<SparseVector> blocks = {};

  /// The number of coordinates that are sent.
  [[nodiscard]] std::int64_t travelling() const {
    return std::max(slots, static_cast<std::int64_t>(selected.size()));
  }
};

/// The phase that is charged for selecting.
inline constexpr const char* kSparsification = "sparsification";

/// A summary of a selection.
struct SelectionReport {
  bool took_part = false;     ///< this rank selected in the iteration
  std::int64_t selected = 0;  ///< components
  std::int64_t sent = 0;      ///< those and the empty slots sent with them
  /// Tensors that were compressed, of a scheme that decides for each.
  std::optional<std::int64_t> compressed_tensors = {};
  SelectionWork work = {};
};

/// The sparsifier of one rank. It lives through all iterations and keeps state between them.
class Sparsifier {
 public:
  Sparsifier() = default;
  Sparsifier(const Sparsifier&) = delete;
  Sparsifier& operator=(const Sparsifier&) = delete;
  virtual ~Sparsifier() = default;

  /// Iterations count from 1. Coordinates that `accumulated` does not hold are 0.
  [[nodiscard]] virtual Selection select(const SparseVector& accumulated, Rank rank,
                                         int iteration) = 0;
  /// The number of coordinates that every rank selects in each iteration, if it is the same: then
  /// ranks need not tell each other. Where fewer are not zero, fewer are selected.
  [[nodiscard]] virtual std::optional<std::int64_t> fixed_count() const { return std::nullopt; }
  /// Receives the number of coordinates that each rank selected, if the collective exchanges it.
  virtual void observe(const Numbers& counts, int iteration);
  /// What one rank decides for all of them before they select: whether anything is decided, what it
  /// is (on the rank whose turn it is), and what all ranks then go by.
  [[nodiscard]] virtual bool decides() const { return false; }
  [[nodiscard]] virtual Numbers decide(const SparseVector& accumulated, int iteration);
  virtual void follow(const Numbers& decision);
};

/// Selects like Sparsifier::select().
using Select = Selection (*)(const SchemeSetup& setup, const SparseVector& accumulated, Rank rank,
                             int iteration);
using MakeSparsifier = std::function<std::unique_ptr<Sparsifier>(const SchemeSetup&)>;
/// SparsifierInfo::make of a sparsifier that keeps no state.
[[nodiscard]] MakeSparsifier without_state(Select select);

/// Selects, and spends the time that this costs the rank's device.
[[nodiscard]] Task<Selection> select_and_pay(Communicator& comm, const SchemeSetup& setup,
                                             Sparsifier& sparsifier,
                                             const SparseVector& accumulated, int iteration);

/// The requirement of a sparsifier on the collective that carries its selection.
enum class Needs : std::uint8_t {
  nothing,
  slots,          ///< unordered entries, with empty ones among them
  values_of_all,  ///< each rank selects in its own part, and all ranks add their values there
};

/// The accumulator of a rank in an iteration (from 1), as far as it does not depend on the scheme.
using AccumulatorOf = std::function<SparseVector(Rank rank, int iteration)>;
/// Finds the state that the sparsifier of all ranks reaches in the course of a training.
using Settle = std::function<SettledState(const SchemeSetup& setup, const AccumulatorOf& of)>;

/// What selecting k of n components takes in the mean of the iterations.
using ExpectedWork =
    std::function<SelectionWork(std::int64_t n, std::int64_t k, const Options& options)>;

/// The registry entry of a sparsifier.
struct SparsifierInfo {
  std::string name;
  std::string summary;
  std::string source;                   ///< paper, section or algorithm
  bool independent_iterations = false;  ///< as SchemeInfo::independent_iterations
  bool draws = false;                   ///< as SchemeInfo::draws
  Needs needs = Needs::nothing;
  bool fixed_count = false;    ///< Sparsifier::fixed_count() is k
  bool takes_tensors = false;  ///< as SchemeInfo::takes_tensors
  std::vector<OptionInfo> options;
  /// The options that are periods: in every such iteration selecting does different work.
  std::vector<std::string> periods = {};
  /// For SchemeSetup::settled; empty: there is no such state.
  Settle settle = {};
  /// How many numbers Sparsifier::decide() gives; empty: nothing is decided.
  std::function<std::int64_t(int ranks, std::int64_t n, std::span<const std::int64_t> tensors)>
      decided = {};
  /// For schemes that decide by cost; empty: a comparison with a threshold, and a compaction.
  ExpectedWork expected_work = {};
  MakeSparsifier make;
};

}  // namespace thinwire::algorithms
