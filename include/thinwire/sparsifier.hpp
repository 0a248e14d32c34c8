// A sparsifier, its registry entry, and the random numbers that it may draw.
#pragma once

// IWYU pragma: begin_exports
#include "algorithms/registry.hpp"
#include "algorithms/sparsifiers/sparsifier.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/statistical.hpp"
// IWYU pragma: end_exports
