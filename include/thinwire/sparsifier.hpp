// A sparsifier and its registry entry.
#pragma once

// IWYU pragma: begin_exports
#include "algorithms/registry.hpp"
#include "algorithms/sparsifiers/sparsifier.hpp"
// IWYU pragma: end_exports
