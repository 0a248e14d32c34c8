#include "algorithms/collectives/shared_values.hpp"

#include <array>
#include <utility>
#include <vector>

#include "algorithms/collectives/allreduce.hpp"

namespace thinwire::algorithms {

Task<Reduced> allreduce_values_at(Communicator& comm, SparseVector indexes,
                                  SparseVector accumulated, const SchemeSetup& setup) {
  const std::int64_t granule = setup.space.granule;
  const GradientSpace space{.components = static_cast<std::int64_t>(indexes.size()) * granule,
                            .granule = granule,
                            .precision = setup.space.precision};
  const GradientReduction reduction(*setup.shared, setup.gamma, space);
  Message mine = values_at(indexes, accumulated).message(space);
  accumulated = {};
  co_await comm.compute(setup.prices.scatter.of(space.components));
  const Words sent = mine.words;
  const Message total = co_await allreduce_rabenseifner(comm, std::move(mine), reduction);
  const std::array inputs{total, indexes.message(space)};
  const Message sum = setup.shared->once("values at their indexes", inputs, [&] {
    const SparseVector result = placed(indexes, DenseBlock::from(total.payload));
    return result.message(space);
  });
  co_await comm.compute(setup.prices.scan.of(setup.space.components) +
                        setup.prices.scatter.of(space.components));
  co_return Reduced{.sum = SparseVector::from(sum.payload),
                    .contributed = std::move(indexes),
                    .sent = sent,
                    .decoded = true};
}

}  // namespace thinwire::algorithms
