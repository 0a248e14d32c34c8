#include "algorithms/schemes/mpi_buffers.hpp"

#include <bit>

#include "sim/core/gradient/space.hpp"

namespace thinwire::algorithms {

namespace {

/// The steps of a schedule that halves its vector in each.
int halvings(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
}

Seconds two_blocks(const SchemeSetup& setup) {
  return setup.fresh.of(part_begin(setup.space.components, setup.ranks, 1), 1) * 2;
}

}  // namespace

Seconds preparing(const SchemeSetup& setup, Buffers buffers) {
  return setup.copy_per_word * static_cast<double>(setup.space.components) + buffers(setup);
}

Seconds no_buffers(const SchemeSetup& /*setup*/) { return Seconds(0); }

Seconds buffers_of_ring(const SchemeSetup& setup) { return two_blocks(setup); }

Seconds buffers_of_rabenseifner(const SchemeSetup& setup) {
  return setup.fresh.of(setup.space.components, halvings(setup.ranks));
}

Seconds buffers_of_doubling(const SchemeSetup& setup) {
  return setup.fresh.of(setup.space.components, 1);
}

Seconds buffers_of_ring_scatter(const SchemeSetup& setup) {
  return setup.fresh.of(setup.space.components, setup.ranks - 1) + two_blocks(setup);
}

Seconds buffers_of_halving(const SchemeSetup& setup) {
  return setup.fresh.of_pair(setup.space.components, halvings(setup.ranks));
}

}  // namespace thinwire::algorithms
