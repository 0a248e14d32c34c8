// Split and reduce: region i of every rank's sparse vector goes to rank i, which sums it
// (Ok-Topk, section 3.1.1; the split phase of SparCML, section 5.3.2).
#pragma once

#include "algorithms/collectives/direct_exchange.hpp"
#include "algorithms/setup.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/sparse_vector.hpp"

namespace thinwire::algorithms {

/// The coordinates at which regions begin and end, one more than there are regions.
using Boundaries = Numbers;

/// The boundaries of P regions, or of another number, with equal numbers of components.
[[nodiscard]] Boundaries equal_regions(const SchemeSetup& setup);
[[nodiscard]] Boundaries equal_regions(const SchemeSetup& setup, int regions);

/// How the parts of the regions are sent.
struct SplitStyle {
  ExchangeOrder order = {};
  /// Whether the counts are sent first, and then indexes and values separately, as in the published
  /// code of Ok-Topk.
  bool counts_first = false;
  /// Words in front of each part (SparCML's marker of a stream).
  std::int64_t marker = 0;
  /// Whether each part is merged with the sum so far as it arrives, which visits the entries of both
  /// (SparCML's sparse sums). If not, a part's entries are added to a dense region.
  bool merges = false;
};

/// The sum of this rank's region over all ranks. Each message contains the entries of a region in
/// COO format (index and value).
/// Cost if each rank has k evenly spread entries: (P-1) α + 2k (P-1)/P β, plus the part of the
/// summation time k (P-1)/P γ that does not overlap with exchanges in flight; with `merges` and no
/// common entries, (P-1) (P+2)/2 k/P γ. `counts_first` adds
/// (P-1) (α + β) for the counts, and makes the latency term 2 (P-1) α instead of (P-1) α.
[[nodiscard]] Task<SparseVector> split_and_reduce(Communicator& comm, SparseVector selected,
                                                  Boundaries boundaries, const SchemeSetup& setup,
                                                  SplitStyle style);

}  // namespace thinwire::algorithms
