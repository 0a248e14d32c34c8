#include "algorithms/collectives/shared_values.hpp"

#include <array>
#include <utility>
#include <vector>

#include "algorithms/collectives/allreduce.hpp"

namespace thinwire {

namespace {

/// The value at each index, 0 where `vector` has none, without the indexes.
DenseBlock values_at(const SparseVector& indexes, const SparseVector& vector) {
  std::vector<float> values;
  values.reserve(indexes.size());
  const auto all = vector.entries();
  auto at = all.begin();
  for (const Entry& index : indexes.entries()) {
    while (at != all.end() && at->coordinate < index.coordinate) ++at;
    const bool found = at != all.end() && at->coordinate == index.coordinate;
    values.push_back(found ? at->value : 0.0F);
  }
  return {0, std::move(values)};
}

/// Values back at their indexes.
SparseVector placed(const SparseVector& indexes, const DenseBlock& values) {
  std::vector<Entry> entries;
  entries.reserve(indexes.size());
  for (const Entry& index : indexes.entries()) {
    entries.push_back({index.coordinate, values.values()[entries.size()]});
  }
  return SparseVector::trusted(std::move(entries));
}

}  // namespace

Task<Reduced> allreduce_values_at(Communicator& comm, SparseVector indexes,
                                  SparseVector accumulated, const SchemeSetup& setup) {
  const std::int64_t granule = setup.space.granule;
  const GradientSpace space{.components = static_cast<std::int64_t>(indexes.size()) * granule,
                            .granule = granule};
  const GradientReduction reduction(*setup.shared, setup.gamma, space);
  Message mine = values_at(indexes, accumulated).message(space);
  accumulated = {};
  const Message total = co_await allreduce_rabenseifner(comm, std::move(mine), reduction);
  const std::array inputs{total, indexes.message(space)};
  const Message sum = setup.shared->once("values at their indexes", inputs, [&] {
    const SparseVector result = placed(indexes, DenseBlock::from(total.payload));
    return result.message(space);
  });
  co_return Reduced{.sum = SparseVector::from(sum.payload), .contributed = std::move(indexes)};
}

}  // namespace thinwire
