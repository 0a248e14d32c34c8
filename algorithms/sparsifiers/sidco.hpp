// sidco: a threshold from exponential distributions that are fitted in stages, SIDCo-E (Abdelmoniem
// et al., MLSys 2021). All entries that reach the last stage's threshold are selected.
//
//   stage 1:  η = mean(|g|) · ln(1/δ1), over all n components
//   stage m:  η += mean(|g| - η over those above η) · ln(1/δm), an exponential fit of the excesses
//   δ1 δ2 .. δM = k/n; δ1 is `first_ratio`, the others are equal. With one stage, or if k/n is
//   not below first_ratio, δ1 = k/n.
//
// M starts at `stages`. Every `period` iterations the mean count is compared with k: above (1 +
// tolerance) k there is one stage fewer, below (1 - tolerance) k one more, between 1 and log2(n/k),
// rounded up. The stages, the mean excess and the adaptation are from the paper. From the published
// code, which agrees: first_ratio 0.25, period 5, tolerance 0.2, one stage at first, equal later
// ratios, the limit of M. It measures the excess from the smallest exceedance instead of from η.
// More stages help if tails are lighter than exponential. If they are heavier, as in accumulators
// whose components are mostly 0, one stage selects too many, and there is no smaller number.
//
// Work: n scanned (the mean) plus the exceedances of each later stage; n compared for the
// selection, n for the first exceedances, and for later ones those of the stage before.
//
// Example: mean 1, k/n = 0.01, two stages: η1 = ln 4 = 1.386. If the mean excess is 1, δ2 = 0.04
// and η2 = 1.386 + 3.219 = 4.605 = ln 100, as with one stage: the exponential is memoryless.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo sidco_sparsifier();

}  // namespace thinwire::algorithms
