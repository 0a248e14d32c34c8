// sidco: a threshold from exponential distributions that are fitted in stages, SIDCo-E (Abdelmoniem
// et al., MLSys 2021). What reaches the last stage's threshold is selected.
//
//   stage 1:  η = mean(|g|) · ln(1/δ1), over all n components
//   stage m:  η += mean(|g| - η over those above η) · ln(1/δm), an exponential of the exceedances
//   δ1 δ2 .. δM = k/n; δ1 is `first_ratio`, the others are equal. With one stage, or where k/n is
//   not below first_ratio, δ1 = k/n.
//
// M starts at `stages`. Every `period` iterations the mean count is compared with k: above
// (1 + tolerance) k there is one stage fewer, below (1 - tolerance) k one more, within 1 and
// log2(n/k), rounded up.
// From the paper: the stages, the mean excess and the adaptation. From the published code, which
// agrees: first_ratio 0.25, period 5, tolerance 0.2, one stage at first, equal later ratios, the
// limit of M. It measures the excess from the smallest exceedance instead of from η.
// More stages help where tails are lighter than exponential. Where they are heavier, as with
// accumulators of which most components are 0, one stage selects too many, and there are no fewer.
//
// Work: scanned n (the mean) and the exceedances of each later stage; compared n for the selection,
// n for the first exceedances, and for later ones those of the stage before.
//
// Example: mean 1, k/n = 0.01, two stages: η1 = ln 4 = 1.386. If the excess is 1 on average,
// δ2 = 0.04 and η2 = 1.386 + 3.219 = 4.605 = ln 100, what one stage gives: the exponential has no
// memory.
#pragma once

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SparsifierInfo sidco_sparsifier();

}  // namespace thinwire::algorithms
