#include "algorithms/schemes/reduce_scatter.hpp"

#include <utility>

#include "algorithms/collectives/reduce_scatter.hpp"
#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/mpi_buffers.hpp"

namespace thinwire::algorithms {

namespace {

class ReduceScatterScheme final : public Scheme {
 public:
  ReduceScatterScheme(const SchemeSetup& setup, Buffers buffers, ReduceScatterSchedule schedule)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        preparing_(preparing(setup, buffers)),
        schedule_(schedule) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const auto phase = comm.phase("reduce_scatter");
    co_await comm.compute(preparing_);  // the sums are made in a copy
    const Message block = co_await schedule_(comm, message_of(gradient, space_), reduction_);
    co_return Reduced{.sum = stream_from(block.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  Seconds preparing_;
  ReduceScatterSchedule schedule_;
};

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
        .copies = true,
        .allocates = buffers != no_buffers,
        .run_cost = cost,
        .make = [buffers, schedule](const SchemeSetup& setup) {
          return std::make_unique<ReduceScatterScheme>(setup, buffers, schedule);
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
