// gaussian: a threshold from the mean and the standard deviation of all n components, as if they
// were Gaussian (Gaussiank: Shi et al., "Understanding top-k sparsification in distributed deep
// learning", arXiv 1911.08772; Ok-Topk, PPoPP 2022, section 3.1.3).
//
//   threshold = mean + deviation · z, where a standard Gaussian exceeds z in magnitude with
//   probability k/n. What reaches it in magnitude is selected.
//
// Real gradients are peaked at 0 and their deviation comes from few large values, so the threshold
// is too high and, late in training, a tenth of k is selected (Ok-Topk, section 5.2). With
// `corrected`, what Ok-Topk's published code does for a fair comparison: while fewer than 3k/4 are
// selected the threshold is divided by `factor`, while more than 5k/4 it is multiplied, at most
// `rounds` times and in one direction (VGG: 20 rounds of 1.02; LSTM and BERT up to 50, down to
// 1.012). 20 rounds of 1.02 move the threshold by at most 1.49, which may not reach the band.
//
// Work: scanned 2n (the mean, then the deviation), compared n for each threshold that was tried.
// Coordinates that are not held are zeros in both moments and are never selected.
//
// Example: n = 1000, mean 0, deviation 0.1, k = 50: z(0.05) = 1.960, so the threshold is 0.196.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// What a standard Gaussian exceeds in magnitude with probability `density`: infinity for 0, 0 for
/// 1.
[[nodiscard]] double two_sided_quantile(double density);
[[nodiscard]] SparsifierInfo gaussian_sparsifier();

}  // namespace thinwire::algorithms
