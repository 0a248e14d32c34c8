#include "algorithms/sparsifiers/block_topk.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace thinwire::algorithms {

std::vector<SparseVector> Blocks::cut(const SparseVector& vector) const {
  std::vector<std::int64_t> cuts;
  for (int block = 0; block <= count_; ++block) cuts.push_back(begin(block));
  const std::vector<std::uint32_t> positions = vector.positions_of(cuts);
  std::vector<SparseVector> parts;
  for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
    parts.push_back(vector.slice(positions[i], positions[i + 1]));
  }
  return parts;
}

namespace {

Selection select_in_blocks(const SchemeSetup& setup, const SparseVector& accumulated, Rank /*rank*/,
                           int /*iteration*/) {
  const bool in_teams = setup.options.all().contains(kTeamsOption);
  const std::int64_t teams = in_teams ? setup.options.integer(kTeamsOption) : 1;
  const Blocks cuts(setup, static_cast<int>(std::max<std::int64_t>(1, setup.ranks / teams)));
  std::vector<SparseVector> blocks = cuts.cut(accumulated);
  for (int i = 0; i < cuts.count(); ++i) {
    SparseVector& block = blocks[static_cast<std::size_t>(i)];
    block = select_largest(block, cuts.share(i));
  }
  // A statistical vector that is joined does not tell that its blocks have equal shares.
  const std::int64_t end = setup.space.coordinates();
  SparseVector selected =
      accumulated.is_statistical()
          ? select_largest_in(accumulated, {.width = (end + cuts.count() - 1) / cuts.count(),
                                            .end = end,
                                            .k = setup.carried_k()})
          : concatenate(blocks);
  return {.selected = std::move(selected),
          .work = {.sorted = setup.space.components},
          .blocks = std::move(blocks)};
}

}  // namespace

SparsifierInfo block_topk_sparsifier() {
  return {.name = "block_topk",
          .summary = "the largest entries of every one of P equal blocks",
          .source = "SparDL (ICDE 2024), Spar-Reduce-Scatter",
          .options = {},
          .expected_work = [](std::int64_t n, std::int64_t /*k*/,
                              const Options& /*options*/) { return SelectionWork{.sorted = n}; },
          .make = without_state(select_in_blocks)};
}

}  // namespace thinwire::algorithms
