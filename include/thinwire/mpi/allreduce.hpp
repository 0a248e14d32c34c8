// An allreduce for MPI programs: docs/measure.md.
#pragma once

// IWYU pragma: begin_exports
#include "sim/app/mpi/allreduce.hpp"
// IWYU pragma: end_exports
