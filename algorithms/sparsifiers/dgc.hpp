// dgc: the threshold is the k-th largest magnitude as a random sample of the components tells it
// (Deep Gradient Compression: Lin et al., ICLR 2018; DRAGONN, ICML 2022, section 2.3 and
// Algorithm 3). What reaches it is selected.
//
// Each coordinate is in the sample with probability q, whatever the others do, and the threshold is
// the r-th largest magnitude of the sample. The rank among all n of the r-th that is met is
// negative binomial: its mean is r/q and its standard deviation sqrt(r (1 - q))/q. With q = r/k the
// mean is k. r = max(2, share · k), at most k: the sample is `sample` of the components, or as much
// more as it takes to expect 2 above the threshold, as in the published code. Ours: that code takes
// every s-th component from a random start; here the draws are independent.
// Where the sample holds fewer than r values that are not 0, so is the threshold, and all that is
// held is selected.
//
// With `resample` (in the paper, and on in the published code): where more than
// `resample_above` times k reach the threshold, exactly the k largest of them are selected.
//
// Work: scanned and sorted q n (the sample), compared n; with resample also sorted what had been
// selected.
//
// Example: n = 10,000, k = 100, sample 0.01: r = 2 and q = 0.02, so 200 components are looked at,
// and the second largest of them is the threshold; 100 ± 70 are selected. With k = 10,000 of
// 1,000,000, r = 100, and 10,000 ± 995 are selected.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// A threshold and the work that finding it was.
struct SampledThreshold {
  float value = 0;
  SelectionWork work = {};
};

/// The estimate, which dragonn_hash shares. Needs the option below.
[[nodiscard]] SampledThreshold sampled_threshold(const SparseVector& accumulated,
                                                 const SchemeSetup& setup, Rank rank,
                                                 int iteration);
[[nodiscard]] OptionInfo sample_option();
[[nodiscard]] SparsifierInfo dgc_sparsifier();

}  // namespace thinwire::algorithms
