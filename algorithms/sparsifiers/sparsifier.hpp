// What a sparsifier is: it decides which entries of a rank's accumulator are sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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

/// What a selection made the device do, in components, so that a device profile can price it.
struct SelectionWork {
  std::int64_t scanned = 0;        ///< read, to find sums or copy what was selected
  std::int64_t compared = 0;       ///< held against a threshold
  std::int64_t sorted = 0;         ///< out of which the largest were found exactly
  std::int64_t hashed = 0;         ///< written to a slot of a hash table
  std::int64_t sampled = 0;        ///< drawn at random
  std::int64_t prefix_summed = 0;  ///< out of which what passed a threshold was copied in order

  friend SelectionWork operator+(SelectionWork a, SelectionWork b) {
    return {a.scanned + b.scanned, a.compared + b.compared, a.sorted + b.sorted,
            a.hashed + b.hashed,   a.sampled + b.sampled,   a.prefix_summed + b.prefix_summed};
  }
  [[nodiscard]] Seconds cost(const WorkPrices& prices) const;
};

/// What a rank selected in one iteration.
struct Selection {
  SparseVector selected;
  SelectionWork work = {};
  /// Coordinates that travel where that is more than was selected (empty slots of a hash table).
  std::int64_t slots = 0;

  /// Coordinates that travel.
  [[nodiscard]] std::int64_t travelling() const {
    return std::max(slots, static_cast<std::int64_t>(selected.size()));
  }
};

/// The phase in which selecting is paid for.
inline constexpr const char* kSparsification = "sparsification";

/// What is told of a selection.
struct SelectionReport {
  bool took_part = false;     ///< this rank had a say in the iteration
  std::int64_t selected = 0;  ///< components
  std::int64_t sent = 0;      ///< those and the empty ones that travel with them
  SelectionWork work = {};
};

/// One rank's sparsifier. Lives through the iterations and keeps what they hand on.
class Sparsifier {
 public:
  Sparsifier() = default;
  Sparsifier(const Sparsifier&) = delete;
  Sparsifier& operator=(const Sparsifier&) = delete;
  Sparsifier(Sparsifier&&) = delete;
  Sparsifier& operator=(Sparsifier&&) = delete;
  virtual ~Sparsifier() = default;

  /// Iterations count from 1. Coordinates that `accumulated` does not hold are 0.
  [[nodiscard]] virtual Selection select(const SparseVector& accumulated, Rank rank,
                                         int iteration) = 0;
  /// How many coordinates each rank selected, once a collective that exchanges that knows.
  virtual void observe(const Numbers& counts, int iteration);
};

/// Selects, and spends what that costs this rank's device.
[[nodiscard]] Task<Selection> select_and_pay(Communicator& comm, const SchemeSetup& setup,
                                             Sparsifier& sparsifier,
                                             const SparseVector& accumulated, int iteration);

/// What a sparsifier asks of the collective that carries its selection.
enum class Needs : std::uint8_t {
  nothing,
  slots,          ///< entries in no order, with empty ones among them
  values_of_all,  ///< each rank selects in its own part and all ranks add their values there
};

/// The registry entry of a sparsifier.
struct SparsifierInfo {
  std::string name;
  std::string summary;
  std::string source;  ///< paper, section or algorithm
  Needs needs = Needs::nothing;
  std::vector<OptionInfo> options;
  /// Those options that are periods: every so many iterations selecting is another work.
  std::vector<std::string> periods = {};
  /// Iterations until it selects as it goes on to.
  int settling = 0;
  std::function<std::unique_ptr<Sparsifier>(const SchemeSetup&)> make;
};

}  // namespace thinwire::algorithms
