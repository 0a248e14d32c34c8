// An allreduce for MPI programs: docs/how-to/measure-on-mpi.md.
#pragma once

// IWYU pragma: begin_exports
#include "sim/app/mpi/allreduce.hpp"
// IWYU pragma: end_exports
