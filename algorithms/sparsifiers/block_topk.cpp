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

class BlockTopk final : public Sparsifier {
 public:
  explicit BlockTopk(const SchemeSetup& setup) : setup_(setup), blocks_(setup, count(setup)) {}

  Selection select(const SparseVector& accumulated, Rank /*rank*/, int /*iteration*/) override {
    std::vector<SparseVector> blocks = blocks_.cut(accumulated);
    for (int i = 0; i < blocks_.count(); ++i) {
      SparseVector& block = blocks[static_cast<std::size_t>(i)];
      block = select_largest(block, blocks_.share(i));
    }
    // A statistical vector that is joined does not tell that its blocks have equal shares.
    const std::int64_t end = setup_.space.coordinates();
    SparseVector selected =
        accumulated.is_statistical()
            ? select_largest_in(accumulated,
                                {.width = (end + blocks_.count() - 1) / blocks_.count(),
                                 .end = end,
                                 .k = setup_.carried_k()})
            : concatenate(blocks);
    return {.selected = std::move(selected),
            .work = {.sorted = setup_.space.components},
            .blocks = std::move(blocks)};
  }

 private:
  static int count(const SchemeSetup& setup) {
    const auto& options = setup.options.all();
    const auto teams = options.contains(kTeamsOption) ? setup.options.integer(kTeamsOption) : 1;
    return static_cast<int>(std::max<std::int64_t>(1, setup.ranks / teams));
  }

  const SchemeSetup& setup_;
  Blocks blocks_;
};

}  // namespace

SparsifierInfo block_topk_sparsifier() {
  return {.name = "block_topk",
          .summary = "the largest entries of every one of P equal blocks",
          .source = "SparDL (ICDE 2024), Spar-Reduce-Scatter",
          .options = {},
          .expected_work = [](std::int64_t n, std::int64_t /*k*/,
                              const Options& /*options*/) { return SelectionWork{.sorted = n}; },
          .make = [](const SchemeSetup& setup) { return std::make_unique<BlockTopk>(setup); }};
}

}  // namespace thinwire::algorithms
