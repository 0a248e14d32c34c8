// The collectives that schedules are made of, as coroutines.
#pragma once

// IWYU pragma: begin_exports
#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/alltoall.hpp"
#include "algorithms/collectives/broadcast.hpp"
#include "algorithms/collectives/channels.hpp"
#include "algorithms/collectives/direct_exchange.hpp"
#include "algorithms/collectives/double_tree.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/collectives/reduce.hpp"
#include "algorithms/collectives/reduce_scatter.hpp"
#include "algorithms/collectives/split_and_reduce.hpp"
// IWYU pragma: end_exports
