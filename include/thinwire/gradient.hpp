// Gradients: sparse, dense, and sums of them.
#pragma once

// IWYU pragma: begin_exports
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/gradient/stream.hpp"
// IWYU pragma: end_exports
