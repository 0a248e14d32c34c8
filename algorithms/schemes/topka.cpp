#include "algorithms/schemes/topka.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"

namespace thinwire {

namespace {

class Gather final : public SparseCollective {
 public:
  Gather(const SchemeSetup& setup, GatherStyle style) : setup_(setup), style_(style) {
    style_.sparse_decoding = setup.options.flag("sparse_decoding");
  }

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    Selection selection = sparsifier.select(accumulated, comm.rank(), iteration);
    accumulated = {};
    Task<Reduced> task = gather_and_sum(comm, std::move(selection), setup_, style_);
    co_return co_await std::move(task);
  }

 private:
  const SchemeSetup& setup_;
  GatherStyle style_;
};

Cost gather_cost(const CostInput& in, GatherStyle style) {
  const double p = in.ranks;
  const double steps = style.ring ? p - 1 : std::ceil(std::log2(p));
  const auto counted = [&](double k) {
    return Terms{(style.sizes ? 2 : 1) * steps, 2 * k * (p - 1), 0};
  };
  const Terms lower_order{0, style.sizes ? p - 1 : 0, 0};
  return {.paper = {},
          .counted = {counted(in.least()), counted(in.most())},
          .lower_order = same(lower_order),
          .exact = in.even()};
}

}  // namespace

Task<Reduced> gather_and_sum(Communicator& comm, Selection selection, const SchemeSetup& setup,
                             GatherStyle style) {
  const auto gather = [&](Message message) {
    return style.ring ? allgather_ring(comm, std::move(message))
                      : allgather(comm, std::move(message));
  };
  const auto entries = static_cast<std::int64_t>(selection.selected.size());
  const std::int64_t travel = std::max(entries, selection.slots);
  if (style.sizes) {
    const auto phase = comm.phase("sizes");
    const Message size = Numbers({travel}).message();
    static_cast<void>(co_await gather(size));
  }
  const Message mine{selection.selected.payload(), setup.space.coo_words(travel)};
  Concatenation all = Concatenation::of(comm.rank(), mine);
  {
    const auto phase = comm.phase("allgather");
    all = co_await gather(mine);
  }
  const auto phase = comm.phase("local_reduction");
  const Words received = all.message().words - mine.words;
  const double reduced_words = style.sparse_decoding
                                   ? static_cast<double>(received.value()) / 2  // half are indexes
                                   : static_cast<double>(setup.space.components) * setup.ranks;
  co_await comm.compute(setup.gamma * reduced_words);
  co_return Reduced{.sum = sum_of_gathered(all, *setup.shared), .contributed = selection.selected};
}

SchemeInfo gather_scheme(std::string name, GatherStyle style) {
  const OptionInfo decoding{"sparse_decoding", style.sparse_decoding, 0,
                            "merge what was gathered; false: scatter each into a dense vector"};
  return {.name = std::move(name),
          .summary = {},
          .source = {},
          .paper = {.latency = style.ring ? "P-1" : (style.sizes ? "2 log P" : "log P"),
                    .words = "2k (P-1)",
                    .reduced = "sparse_decoding k (P-1) + (1 - sparse_decoding) n P"},
          .exact_when = "all ranks select k",
          .lower_order = style.sizes ? "P-1 words of sizes" : "",
          .options = {decoding},
          .run_cost = [style](const CostInput& in) { return gather_cost(in, style); },
          .collective = [style](const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
            return std::make_unique<Gather>(setup, style);
          },
          .carries_slots = true};
}

}  // namespace thinwire
