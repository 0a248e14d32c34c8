// Dense compressors: every component is sent in few bits. Quantised values cannot be added on the
// way, so the first two, which DRAGONN is compared with, send them around a ring allgather.
//
//   signsgd  one bit per component and one scale: the mean magnitude, so that with error feedback
//            nothing is lost (Bernstein et al., ICML 2018; Karimireddy et al., ICML 2019)
//   qsgd     `bits` per component (2, 4, 8) and a scale per 1024 (Alistarh et al., NIPS 2017)
//   quantised_alltoall  `bits` per component and a scale per 1024: block r of every rank's gradient
//            goes to rank r, which adds the values, and quantises the sum for an allgather around a
//            ring. This is the schedule of ZeRO++'s qgZ (Wang et al., arXiv:2306.10209, 2023) without
//            its second level for nodes, and of the compressed allreduce of 1-bit Adam (Tang et al.,
//            ICML 2021). The papers were not at hand: the schedule is as DeepSpeed describes it
//            (runtime/comm, runtime/fp16/onebit). With 1 bit, that of 1-bit Adam, a block is its signs
//            and one scale, the root of its mean square. What 1-bit Adam keeps of the error of the
//            second quantisation is left out.
//
// Cost of the first two: (P-1) (α + Lβ) with L = ceil(n/32) + 1 words, or ceil(n bits/32) + ceil(n/1024); exact at
// any P. γ: each rank adds P dense vectors, n P words.
// Cost of quantised_alltoall, with L = ceil(b bits/32) + ceil(b/1024) for blocks of b = n/P, with 1 bit
// ceil(b/32) + 1: 2 (P-1)
// (α + Lβ), n (P-1)/P γ; exact if P divides n. The error is at most one step of each rank's levels and
// one of the sum's.
// With a device: the price of quantising n components (signsgd: and of a scan of them), and of
// restoring those of P ranks. signsgd loses more than half of a gradient, so in a training it also pays
// for what error feedback reads and writes, which `workload.feedback` chooses. The rounding of the other
// two is unbiased, and they keep nothing.
// Restrictions: none. Memory: n values per rank during the allgather.
//
// Worked examples: signsgd, P = 4, n = 3200: 3 messages of 101 words. quantised_alltoall, the same
// with 8 bits: 6 messages of 201 words.
#pragma once

#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] std::vector<SchemeInfo> quantised_schemes();

}  // namespace thinwire::algorithms
