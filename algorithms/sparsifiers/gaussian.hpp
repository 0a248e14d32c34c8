// gaussian: a threshold from the mean and the standard deviation of all n components, under the
// assumption that they are Gaussian (Gaussiank: Shi et al., "Understanding top-k sparsification in
// distributed deep learning", arXiv 1911.08772; Ok-Topk, PPoPP 2022, section 3.1.3).
//
//   threshold = mean + deviation · z, where a standard Gaussian exceeds z in magnitude with
//   probability k/n. Entries whose magnitude reaches it are selected.
//
// Real gradients are peaked at 0 and a few large values dominate their deviation, so the threshold
// is too high and, late in training, only a tenth of k is selected (Ok-Topk, section 5.2).
// `corrected` does what Ok-Topk's published code does for a fair comparison. While fewer than 3k/4
// entries are selected, the threshold is divided by `factor`; while more than 5k/4 are, it is
// multiplied by it. This happens at most `rounds` times and in one direction (VGG: 20 rounds of 1.02;
// LSTM and BERT up to 50, down to 1.012). 20 rounds of 1.02 change the threshold by at most a factor of
// 1.49, which may not reach the band.
//
// Work: 2n scanned (the mean, then the deviation), n compared for each threshold tried. Coordinates
// that are not held are zeros in both moments and are never selected.
//
// Example: n = 1000, mean 0, deviation 0.1, k = 50: z(0.05) = 1.960, so the threshold is 0.196.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// The magnitude that a standard Gaussian exceeds with probability `density`: ∞ for 0, 0 for 1.
[[nodiscard]] double two_sided_quantile(double density);
[[nodiscard]] SparsifierInfo gaussian_sparsifier();

}  // namespace thinwire::algorithms
