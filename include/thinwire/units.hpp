// Types of quantities: Words, Bytes, Seconds, Rank.
#pragma once

// IWYU pragma: begin_exports
#include "sim/core/base/units.hpp"
// IWYU pragma: end_exports
