// The buffers that collectives of Open MPI allocate in each call, for FreshMemory (setup.hpp).
//
// Source: Open MPI 4.1, ompi/mca/coll/base/coll_base_{allreduce,reduce_scatter}.c
#pragma once

#include "algorithms/setup.hpp"

namespace thinwire::algorithms {

/// What the buffers of a collective cost a rank in one call.
using Buffers = Seconds (*)(const SchemeSetup& setup);

/// The time of a rank before a collective that sums: of the copy of its gradient in which the sums
/// are made, and of buffers.
[[nodiscard]] Seconds preparing(const SchemeSetup& setup, Buffers buffers);

/// The time of collectives without buffers, or with short ones, such as a segment's.
[[nodiscard]] Seconds no_buffers(const SchemeSetup& setup);
/// An allreduce around a ring: two, for blocks that arrive.
[[nodiscard]] Seconds buffers_of_ring(const SchemeSetup& setup);
/// Rabenseifner's allreduce: a vector of which halves, quarters and so on arrive.
[[nodiscard]] Seconds buffers_of_rabenseifner(const SchemeSetup& setup);
/// An allreduce by recursive doubling: a vector that arrives.
[[nodiscard]] Seconds buffers_of_doubling(const SchemeSetup& setup);
/// A reduce-scatter around a ring: a copy whose blocks are sent one by one, and two for blocks that
/// arrive.
[[nodiscard]] Seconds buffers_of_ring_scatter(const SchemeSetup& setup);
/// A reduce-scatter by recursive halving: two vectors of which halves, quarters and so on are
/// exchanged.
[[nodiscard]] Seconds buffers_of_halving(const SchemeSetup& setup);

}  // namespace thinwire::algorithms
