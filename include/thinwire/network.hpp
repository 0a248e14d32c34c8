// Ranks on a network, and what a run of them reports.
#pragma once

// IWYU pragma: begin_exports
#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/counting/counting.hpp"
// IWYU pragma: end_exports
