// deft: layers are dealt out to the ranks, and each rank selects the largest entries of its layers
// (DEFT: Yoon and Oh, ICPP 2023, arXiv:2307.03500). Of the paper only the abstract was at hand: the
// algorithm follows its published code (kljp/deft, gradient_reducers.py).
//
// Layers: the model's tensors; one of more than n/P components is cut into P parts as equal as
// possible. Without tensors the gradient is one.
//
// Share of a layer, by each rank for itself. The layers take their turn by their L2 norms, the largest
// first. A layer with norm x gets the part x/s of what is left of k, where s is the sum of the norms of
// this layer and the layers after it; rounded down, at least 1 and at most its size. What is left over
// in the end goes to the layers in the same order. So at least one entry of each layer is selected, even
// if k is less (ours: none if k is 0).
//
// Allocation, by one rank for all: layer i costs n_i log k_i, or n_i at k_i = 1. The layers go, the
// largest cost first, to the bin that is the least full. In iteration t = 0, 1 ... rank t mod P
// allocates by its own shares and broadcasts which layers each bin has; rank r takes bin (t + r) mod P.
// The published code broadcasts the sizes of the bins and their layers in two messages; ours is one.
//
// k is the number that all ranks select together; it is exact if all entries of a layer are held.
// Work: the whole gradient is read for the norms, a call a layer; the own layers are sorted, a call
// each. In the published code the norms precede the broadcast; here they are paid with the selection.
// Statistical gradients: the square of a layer's norm is the number of its entries among the 8k
// largest, times the mean square that is expected of them there. The rank that allocates has drawn them for all layers. For its own share, a
// rank draws the norms of its own layers alone, and the other layers have the norms that are expected. A
// selection is located in one region, of as many coordinates as its layers have.
// Memory: a few numbers a layer, which the ranks share.
//
// Example: P = 2, tensors of 6 and 4: 6 > 5 is cut into 3 and 3. With norms 3, 2 and 1 and k = 4 the
// shares are 2, 1 and 1; costs 3, 3 and 4. The third layer goes to bin 0, the first to bin 1, the
// second to bin 1, which is less full: counts 1 and 2, then 2, 0, 1 are broadcast.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

/// The first component of each layer, and n.
[[nodiscard]] std::vector<std::int64_t> deft_layers(std::int64_t n,
                                                    std::span<const std::int64_t> tensors,
                                                    int ranks);
/// The allocation of layers of `sizes` coordinates by their shares: the number of layers in each bin,
/// followed by the layers, bin by bin.
[[nodiscard]] std::vector<std::int64_t> deft_allocation(std::span<const std::int64_t> sizes,
                                                        std::span<const std::int64_t> shares,
                                                        int ranks);

[[nodiscard]] SparsifierInfo deft_sparsifier();

}  // namespace thinwire::algorithms
