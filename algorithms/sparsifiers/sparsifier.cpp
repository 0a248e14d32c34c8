#include "algorithms/sparsifiers/sparsifier.hpp"

namespace thinwire::algorithms {

namespace {

class WithoutState final : public Sparsifier {
 public:
  WithoutState(const SchemeSetup& setup, Select how) : setup_(setup), select_(how) {}

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    return select_(setup_, accumulated, rank, iteration);
  }

 private:
  const SchemeSetup& setup_;
  Select select_;
};

}  // namespace

MakeSparsifier without_state(Select select) {
  return
      [select](const SchemeSetup& setup) { return std::make_unique<WithoutState>(setup, select); };
}

void Sparsifier::observe(const Numbers& /*counts*/, int /*iteration*/) {}

Numbers Sparsifier::decide(const SparseVector& /*accumulated*/, int /*iteration*/) {
  return Numbers(std::vector<std::int64_t>{});
}

void Sparsifier::follow(const Numbers& /*decision*/) {}

Seconds SelectionWork::cost(const WorkPrices& prices) const {
  return prices.scan.of(scanned) + prices.compare.of(compared) + prices.topk.of(sorted) +
         prices.hash.of(hashed) + prices.sample.of(sampled) + prices.prefix_sum.of(prefix_summed) +
         prices.compare.call * static_cast<double>(retries) +
         prices.scan.call * static_cast<double>(more_scans) +
         prices.topk.call * static_cast<double>(more_topks);
}

Task<Selection> select_and_pay(Communicator& comm, const SchemeSetup& setup, Sparsifier& sparsifier,
                               const SparseVector& accumulated, int iteration) {
  Selection selection = sparsifier.select(accumulated, comm.rank(), iteration);
  const auto phase = comm.phase(kSparsification);
  co_await comm.compute(selection.work.cost(setup.prices));
  co_return selection;
}

}  // namespace thinwire::algorithms
