// dgc: the threshold is an estimate of the k-th largest magnitude from a random sample of the
// components (Deep Gradient Compression: Lin et al., ICLR 2018; DRAGONN, ICML 2022, section 2.3 and
// Algorithm 3). All entries that reach it are selected.
//
// Each coordinate is in the sample with probability q, independently, and the threshold is the r-th
// largest magnitude of the sample. Its rank among all n components has a negative binomial
// distribution with mean r/q and standard deviation sqrt(r (1 - q))/q; with q = r/k the mean is k.
// r = max(2, share · k), at most k: the sample is the share `sample` of the components, or as many
// more as are needed to expect 2 above the threshold, as in the published code. Ours: that code
// takes every s-th component from a random start; here the draws are independent. If the sample
// holds fewer than r nonzero values, the threshold is 0, and all entries that are held are
// selected.
//
// With `resample` (in the paper, and on in the published code): if more than `resample_above` times
// k entries reach the threshold, exactly the k largest of them are selected.
//
// Work: q n sampled and sorted, n compared, n prefix-summed; with resample the selection is sorted too.
//
// Example: n = 10,000, k = 100, sample 0.01: r = 2 and q = 0.02, so 200 components are sampled, and
// the second largest of them is the threshold; 100 ± 70 are selected. With k = 10,000 of 1,000,000,
// r = 100, and 10,000 ± 995 are selected.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// A threshold and the work of estimating it.
struct SampledThreshold {
  float value = 0;
  SelectionWork work = {};
};

/// The estimate, shared with dragonn_hash. It needs the option below.
[[nodiscard]] SampledThreshold sampled_threshold(const SparseVector& accumulated,
                                                 const SchemeSetup& setup, Rank rank,
                                                 int iteration);
/// What the estimate takes, of n components.
[[nodiscard]] SelectionWork sampling_work(std::int64_t n, const Options& options);
[[nodiscard]] OptionInfo sample_option();
[[nodiscard]] SparsifierInfo dgc_sparsifier();

}  // namespace thinwire::algorithms
