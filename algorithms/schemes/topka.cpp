#include "algorithms/schemes/topka.hpp"

#include <cmath>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"

namespace thinwire {

namespace {

class Topka final : public Scheme {
 public:
  explicit Topka(const SchemeSetup& setup) : setup_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const SparseVector mine = select_largest(std::get<SparseVector>(gradient), setup_.carried_k());
    gradient = SparseVector();
    Concatenation all = Concatenation::of(comm.rank(), {});
    {
      const auto phase = comm.phase("allgather");
      all = co_await allgather(comm, mine.message(setup_.space));
    }
    const auto phase = comm.phase("local_reduction");
    const Words received = all.message().words - mine.message(setup_.space).words;
    const double reduced_words = static_cast<double>(received.value()) / 2;  // half are indexes
    co_await comm.compute(setup_.gamma * reduced_words);
    co_return Reduced{.sum = sum_of_gathered(all, *setup_.shared), .contributed = mine};
  }

 private:
  const SchemeSetup& setup_;
};

Cost topka_cost(const CostInput& in) {
  const double p = in.ranks;
  const Terms paper{std::log2(p), 2 * static_cast<double>(in.k) * (p - 1)};
  const Terms counted{std::ceil(paper.messages), paper.words};
  return {.paper = {paper, paper}, .counted = {counted, counted}, .lower_order = {}, .exact = true};
}

}  // namespace

SchemeInfo topka_scheme() {
  return {.name = "topka",
          .summary = "allgather of each rank's exact top-k, summed locally",
          .source = "Ok-Topk (PPoPP 2022), Table 1, TopkA",
          .latency = "log P",
          .bandwidth = "2k (P-1)",
          .dense = false,
          .options = {},
          .restriction = [](int, std::int64_t) { return std::nullopt; },
          .cost = topka_cost,
          .make = [](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
            return std::make_unique<Topka>(setup);
          }};
}

}  // namespace thinwire
