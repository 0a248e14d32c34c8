// The dense compressors that DRAGONN is compared with: every component is sent in few bits around a
// ring allgather, since quantised values cannot be added on the way.
//
//   signsgd  one bit per component and one scale: the mean magnitude, so that with error feedback
//            nothing is lost (Bernstein et al., ICML 2018; Karimireddy et al., ICML 2019)
//   qsgd     `bits` per component (2, 4, 8) and a scale per 1024 (Alistarh et al., NIPS 2017)
//
// Cost: (P-1) (α + Lβ) with L = ceil(n/32) + 1 words, or ceil(n bits/32) + ceil(n/1024); exact at
// any P. γ: each rank adds P dense vectors, n P words.
// With a device: the price of quantising n components (signsgd: and of a scan of them), and of
// restoring those of P ranks.
// Restrictions: none. Memory: n values per rank during the allgather.
//
// Worked example: signsgd, P = 4, n = 3200: 3 messages of 101 words.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> quantised_schemes();

}  // namespace thinwire::algorithms
