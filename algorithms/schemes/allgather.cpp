#include "algorithms/schemes/allgather.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

class AllgatherScheme final : public Scheme {
 public:
  AllgatherScheme(const SchemeSetup& setup, AllgatherSchedule schedule)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        schedule_(schedule) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const auto phase = comm.phase("allgather");
    const int rank = comm.rank().value();
    Message own = reduction_.cut(message_of(gradient, space_), {rank, rank + 1}, comm.size());
    gradient = {};
    const Concatenation all = co_await schedule_(comm, std::move(own));
    co_return Reduced{.sum = stream_of_gathered(all, reduction_), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  AllgatherSchedule schedule_;
};

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
                      .stand_ins = {.alike_after = alike_after},
                      .run_cost = cost,
                      .make = [schedule](const SchemeSetup& setup) {
                        return std::make_unique<AllgatherScheme>(setup, schedule);
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
