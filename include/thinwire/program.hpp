// The program of Thinwire with schemes of your own: docs/tutorials/own-scheme.md.
#pragma once

// IWYU pragma: begin_exports
#include "sim/app/cli/program.hpp"
// IWYU pragma: end_exports
