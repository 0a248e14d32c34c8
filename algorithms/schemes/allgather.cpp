// The allgathers of dense blocks, as MPI libraries name them. n is the length of the gathered
// vector: rank r contributes block r, n/P words of its own vector, and all ranks end with all
// blocks.
//
//   allgather_ring                (P-1) α + n (P-1)/P β      (NCCL; Open MPI's ring)
//   allgather_recursive_doubling  log P α + n (P-1)/P β      (Thakur et al., IJHPCA 2005)
//   allgather_bruck               ceil(log P) α + n (P-1)/P β   (Bruck et al., TPDS 1997)
//   allgather_neighbor_exchange   P/2 α + n (P-1)/P β        (Chen et al., HPC Asia 2005)
//
// Exact at any P and n with the added terms. If P does not divide n, the first n mod P blocks are a
// word longer, and the path follows the longest message of each step: around the ring block 0,
// otherwise the first blocks that go together.
// What Open MPI does at other P is done here too: recursive doubling is Bruck's algorithm unless P
// is a power of two, and neighbour exchange is the ring if P is odd.
//
// Worked example: n = 10, P = 4, recursive doubling: blocks 3, 3, 2, 2; 3 words in the first step
// and 6 in the second, so 2 messages and 9 words; the formula gives 10 · 3/4 = 7.5, so 1.5 words
// are added.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

Task<Message> gather_blocks(AllgatherSchedule schedule, Communicator& comm, Message whole,
                            const Reduction& reduction) {
  const int rank = comm.rank().value();
  if (schedule == allgather_ring && reduction.has_length_alone(whole)) {
    co_await gather_lengths_around_ring(comm, whole, reduction, 0);
    co_return whole;
  }
  Message own = reduction.cut(whole, {rank, rank + 1}, comm.size());
  whole = {};
  const Concatenation all = co_await schedule(comm, std::move(own));
  co_return reduction.join(all, {{0, comm.size()}, comm.size()});
}

/// The cost of steps whose longest messages have the first blocks, as many as `blocks` says.
Cost cost_of(const CostInput& in, const std::vector<int>& blocks) {
  Terms run{static_cast<double>(blocks.size()), 0, 0};
  for (const int count : blocks) {
    run.words += static_cast<double>(part_begin(in.n, in.ranks, count));
  }
  const double p = in.ranks;
  return exact_cost({0, static_cast<double>(in.n) * (p - 1) / p, 0}, run);
}

Cost ring_gather_cost(const CostInput& in) {
  return cost_of(in, std::vector<int>(static_cast<std::size_t>(in.ranks - 1), 1));
}

Cost doubling_gather_cost(const CostInput& in) {
  std::vector<int> blocks;
  for (int distance = 1; distance < in.ranks; distance *= 2) {
    blocks.push_back(std::min(distance, in.ranks - distance));
  }
  return cost_of(in, blocks);
}

Cost neighbor_exchange_cost(const CostInput& in) {
  if (in.ranks % 2 != 0) return ring_gather_cost(in);
  std::vector<int> blocks(static_cast<std::size_t>(in.ranks / 2), 2);
  blocks.front() = 1;
  return cost_of(in, blocks);
}

}  // namespace

std::vector<SchemeInfo> allgather_schemes() {
  const auto entry = [](std::string name, std::string summary, std::string source,
                        std::string latency, Cost (*cost)(const CostInput&),
                        AllgatherSchedule schedule, int alike_after = 1) {
    return SchemeInfo{.name = std::move(name),
                      .collective_kind = Collective::allgather,
                      .summary = std::move(summary),
                      .source = std::move(source),
                      .paper = {.latency = std::move(latency), .words = "n (P-1)/P"},
                      .exact_when = "always",
                      .added = "remainders of the blocks",
                      .dense = true,
                      .takes_rounds = schedule == allgather_ring,
                      .stand_ins = {.alike_after = alike_after},
                      .run_cost = cost,
                      .make = [schedule](const SchemeSetup& setup) {
                        return dense_collective(setup, "allgather",
                                                std::bind_front(gather_blocks, schedule));
                      }};
  };
  return {
      entry("allgather_ring", "each rank forwards the block that it received last, P-1 times",
            "Thakur, Rabenseifner, Gropp (IJHPCA 2005), section 4.1", "P-1", ring_gather_cost,
            allgather_ring),
      entry(
          "allgather_recursive_doubling",
          "all blocks so far exchanged with rank ^ 1, 2, 4 ...; Bruck's where P is no power of two",
          "Thakur, Rabenseifner, Gropp (IJHPCA 2005), section 4.1", "ceil(log P)",
          doubling_gather_cost, allgather),
      entry("allgather_bruck", "the first 1, 2, 4 ... blocks to rank - 1, 2, 4 ...",
            "Bruck et al. (IEEE TPDS 1997)", "ceil(log P)", doubling_gather_cost, allgather_bruck),
      entry("allgather_neighbor_exchange",
            "pairs of blocks exchanged with both neighbours by turns; the ring where P is odd",
            "Chen et al. (HPC Asia 2005)", "P/2 + (P/2 - 1) (P - 2 floor(P/2))",
            neighbor_exchange_cost, allgather_neighbor_exchange, 2)};
}

}  // namespace thinwire::algorithms
