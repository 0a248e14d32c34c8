// What docs/reference/cpp.md offers. <thinwire/mpi/allreduce.hpp>: tests/app/mpi/allreduce.cpp.
#include <thinwire/collectives.hpp>
#include <thinwire/communicator.hpp>
#include <thinwire/errors.hpp>
#include <thinwire/gradient.hpp>
#include <thinwire/network.hpp>
#include <thinwire/program.hpp>
#include <thinwire/scheme.hpp>
#include <thinwire/sparsifier.hpp>
#include <thinwire/units.hpp>

namespace thinwire {

static_assert(Words(1) < Words(2));
static_assert(sizeof(algorithms::SchemeInfo) > 0 && sizeof(cli::Program) > 0);

}  // namespace thinwire
