// The parameters of a simulation that every scheme and its parts use.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/options.hpp"
#include "algorithms/roles.hpp"
#include "sim/core/base/reducing_switches.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::algorithms {

/// What a sparsifier that is controlled by counts has arrived at before the first iteration.
struct SettledState {
  int iterations = 0;      ///< that it took; 0: the first iteration is a training's first
  bool cut_short = false;  ///< the search ended before f, the traffic ratio, was seen to settle
  double scale = 1;        ///< of every rank's first threshold
  std::vector<std::int64_t> partitions = {};  ///< as the sparsifier keeps them; empty: the first
};

/// The price of the long buffers that a collective of MPI allocates in each call. The C library maps
/// them anew: the first access to a page is a fault, and what is sent or received has to be
/// registered with the NIC.
struct FreshMemory {
  Bytes beyond{0};                   ///< the C library keeps buffers that are no longer
  Bytes pairs_beyond{0};             ///< the same for two buffers of one length; 0: as one
  Seconds page{0};                   ///< of the fault of a page of 4 KiB
  Seconds registration{0};           ///< of each piece that is registered
  Seconds registration_per_word{0};  ///< in addition

  [[nodiscard]] bool is_priced() const {
    return page > Seconds(0) || registration > Seconds(0) || registration_per_word > Seconds(0);
  }
  /// The time for a buffer of `words` of which `pieces`, all of it together, are sent or received;
  /// 0: none of it is.
  [[nodiscard]] Seconds of(std::int64_t words, int pieces) const {
    return of(words, pieces, beyond);
  }
  /// The time for two such buffers, which are freed together.
  [[nodiscard]] Seconds of_pair(std::int64_t words, int pieces) const {
    return of(words, pieces, pairs_beyond > Bytes(0) ? pairs_beyond : beyond) * 2;
  }

 private:
  [[nodiscard]] Seconds of(std::int64_t words, int pieces, Bytes longest_kept) const;
};

/// One per simulation, shared by the schemes of all ranks, which it must outlive.
struct SchemeSetup {
  int ranks = 1;
  GradientSpace space;
  std::int64_t k = 0;  ///< components that each rank should select; a multiple of space.granule
  Gamma gamma = {};
  /// Time per word of the copies that MPI's collectives make from buffer to buffer of a rank.
  Seconds copy_per_word = {};
  FreshMemory fresh = {};  ///< of their buffers
  WorkPrices prices = {};  ///< of local work, when a training iteration is simulated
  bool on_device = false;  ///< whether one is, at the prices of a device
  /// A scheme that gathers leaves the time of decoding to its caller, which spends it on the strand
  /// that computes: messages overlap with the backward pass, but a GPU decodes or computes.
  bool decode_later = false;
  Options options = {};
  SharedWork* shared = nullptr;
  const Roles* roles = &Roles::of_all_ranks();  ///< outlives the schemes
  /// α and β as in the network's formulas, for schemes that decide by cost.
  Seconds alpha = {};
  Seconds beta_per_word = {};
  /// Ranks of each node, which follow one another; the last node may have fewer. 0: not known, or
  /// not so.
  int node = 0;
  ReducingSwitches switches = {};  ///< of the platform, on networks that have them
  std::uint64_t seed = 1;          ///< for the random draws of schemes
  /// Components of the model's tensors, in the order of the gradient; empty: one tensor.
  std::vector<std::int64_t> tensors = {};
  /// The rows of each tensor, as a matrix in row-major order; 1 for a vector. Empty: not known.
  std::vector<std::int64_t> rows = {};
  SettledState settled = {};

  /// k in carried coordinates.
  [[nodiscard]] std::int64_t carried_k() const { return k / space.granule; }
  /// The components of a vector's entries.
  [[nodiscard]] std::int64_t components_in(const SparseVector& vector) const {
    return static_cast<std::int64_t>(vector.size()) * space.granule;
  }
};

}  // namespace thinwire::algorithms
