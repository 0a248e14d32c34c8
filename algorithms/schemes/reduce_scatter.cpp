// The reduce-scatters of dense vectors, as MPI libraries name them. n is the length of a rank's
// input: rank r ends with block r of the sum, n/P words.
//
//   reduce_scatter_ring               (P-1) α + n (P-1)/P (β + γ)    (Open MPI's ring)
//   reduce_scatter_recursive_halving  log P α + n (P-1)/P (β + γ)    (Thakur et al., IJHPCA 2005)
//   reduce_scatter_pairwise           (P-1) α + n (P-1)/P (β + γ)    (MPICH's pairwise)
//
// Exact at any P and n with the added terms:
//   - If P does not divide n, the first n mod P blocks are a word longer. Block 0 is on the path of
//     the ring and of the pairwise exchange; the halves that contain it are on the path of halving.
//   - If P is no power of two, halving folds in: α + n (β + γ) before, α + n/P β afterwards, and the
//     blocks of a pair stay together (Open MPI, coll_base_reduce_scatter.c, basic_recursivehalving,
//     and MPICH; Open MPI leaves out messages of empty blocks, which are sent here).
//
// Worked example: n = 12, P = 3, halving: rank 0 sends rank 1 all 12 words, ranks 1 and 2 exchange
// 4 and 8 words, and rank 1 sends rank 0 its 4: 3 messages and 24 words, of which 16 are added.
#include "algorithms/schemes/schemes.hpp"

#include <utility>

#include "algorithms/collectives/reduce_scatter.hpp"
#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/mpi_buffers.hpp"

namespace thinwire::algorithms {

namespace {

Cost scatter_cost(const CostInput& in, Terms run) {
  const double p = in.ranks;
  const double words = static_cast<double>(in.n) * (p - 1) / p;
  return exact_cost({0, words, words}, run);
}

Cost one_by_one_cost(const CostInput& in) {
  const double path = (in.ranks - 1) * static_cast<double>(part_begin(in.n, in.ranks, 1));
  return scatter_cost(in, {static_cast<double>(in.ranks - 1), path, path});
}

Cost halving_cost(const CostInput& in) {
  // Rank 1, or 0 at a power of two, is at place 0 and always keeps the first blocks.
  const Core core(Rank(0), in.ranks);
  Terms run;
  const auto sum_of = [](std::int64_t words) {
    const auto length = static_cast<double>(words);
    return Terms{1, length, length};
  };
  for (int width = core.size() / 2; width > 0; width /= 2) {
    run = run + sum_of(part_begin(in.n, in.ranks, core.ranks_of({0, width}).last));
  }
  if (core.paired()) {
    const auto block = static_cast<double>(part_begin(in.n, in.ranks, 1));
    run = run + sum_of(in.n) + Terms{1, block, 0};
  }
  return scatter_cost(in, run);
}

}  // namespace

std::vector<SchemeInfo> reduce_scatter_schemes() {
  const auto entry = [](std::string name, std::string summary, std::string source,
                        std::string latency, std::string added, Cost (*cost)(const CostInput&),
                        Buffers buffers, ReduceScatterSchedule schedule) {
    return SchemeInfo{
        .name = std::move(name),
        .collective_kind = Collective::reduce_scatter,
        .summary = std::move(summary),
        .source = std::move(source),
        .paper = {.latency = std::move(latency), .words = "n (P-1)/P", .reduced = "n (P-1)/P"},
        .exact_when = "always",
        .added = std::move(added),
        .dense = true,
        .takes_rounds = true,
        .copies = true,
        .allocates = buffers != no_buffers,
        .run_cost = cost,
        .make = [buffers, schedule](const SchemeSetup& setup) {
          return dense_collective(setup, "reduce_scatter", schedule, preparing(setup, buffers));
        }};
  };
  return {
      entry("reduce_scatter_ring", "each block around the ring to its rank, summed on the way",
            "Open MPI 4.1, coll_base_reduce_scatter.c, ring", "P-1", "remainders of the blocks",
            one_by_one_cost, buffers_of_ring_scatter, reduce_scatter_ring),
      entry("reduce_scatter_recursive_halving",
            "halves exchanged and summed with rank ^ P/2, P/4 ... 1; other ranks fold in",
            "Thakur, Rabenseifner, Gropp (IJHPCA 2005), section 4.2", "log P",
            "remainders of the blocks; folding in", halving_cost, buffers_of_halving,
            reduce_scatter_recursive_halving),
      entry("reduce_scatter_pairwise", "step s: a block to rank + s; one from rank - s is summed",
            "Thakur, Rabenseifner, Gropp (IJHPCA 2005), section 4.2", "P-1",
            "remainders of the blocks", one_by_one_cost, no_buffers, reduce_scatter_pairwise)};
}

}  // namespace thinwire::algorithms
