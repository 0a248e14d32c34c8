// A scheme, its cost model and its registry entry.
#pragma once

// IWYU pragma: begin_exports
#include "algorithms/formula.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/scheme.hpp"
// IWYU pragma: end_exports
