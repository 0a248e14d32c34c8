#include "traces/trace_source.hpp"

#include "sim/core/gradient/dense_block.hpp"

namespace thinwire::traces {

SparseVector TraceSource::sparse(Rank rank, int iteration) const {
  const std::size_t at = static_cast<std::size_t>(iteration - 1) % reader_.iterations().size();
  return reader_.selected(at, rank);
}

DenseBlock TraceSource::dense(Rank rank, int iteration) const {
  return to_dense(sparse(rank, iteration), 0,
                  static_cast<std::uint32_t>(reader_.header().components));
}

}  // namespace thinwire::traces
