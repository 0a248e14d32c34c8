// A sparse scheme layer by layer, with non-blocking calls (SparCML, SC 2019, sections 7 and 8.3).
//
// Each layer has an instance of the scheme with its share of k. In a training, what the rank keeps
// is added to a layer's gradient as soon as the backward pass has made it, and entries are selected,
// on the rank's own strand: all need the device. The rest, what is then forgotten, and with staging
// the copies of the layer, run on the second strand, one layer after another, while the backward
// pass goes on. All layers are waited for at the end.
//
// Without a training there is no backward pass to hide behind, and all layers start at once.
// Memory: as the scheme. The shares of k are rounded, at least one granule each, so that their sum
// may differ from k.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

/// `layers`: components per layer, in the order of the gradient; whole granules except the last.
/// Throws InputError when the scheme cannot run layer by layer: dense ones (dense_ovlp does), those
/// that go tensor by tensor in any case (dragonn), and those in which ranks select for each other.
[[nodiscard]] SchemeInfo layer_by_layer(const SchemeInfo& whole, std::vector<std::int64_t> layers);

}  // namespace thinwire::algorithms
