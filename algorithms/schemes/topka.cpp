#include "algorithms/schemes/topka.hpp"

#include <utility>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/decoding.hpp"

namespace thinwire::algorithms {

namespace {

class Gather final : public SparseCollective {
 public:
  Gather(const SchemeSetup& setup, GatherStyle style) : setup_(setup), style_(style) {
    style_.sparse_decoding = setup.options.flag("sparse_decoding");
  }

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    accumulated = {};
    if (style_.sizes) {
      const auto phase = comm.phase("sizes");
      const Message size = Numbers({selection.travelling()}).message();
      static_cast<void>(co_await gather(comm, size));
    }
    const Message mine{selection.selected.payload(),
                       setup_.space.coo_words(selection.travelling())};
    Concatenation all = Concatenation::of(comm.rank(), mine);
    {
      const auto phase = comm.phase("allgather");
      all = co_await gather(comm, mine);
    }
    Reduced reduced{.sum = sum_of_gathered(all, *setup_.shared),
                    .contributed = selection.selected,
                    .gathered = all.message().words};
    reduced.decoding = decoding(mine.words, all.message().words);
    reduced.decoded = true;
    if (!setup_.decode_later) {
      const auto phase = comm.phase(kLocalReduction);
      co_await comm.compute(std::exchange(reduced.decoding, Seconds(0)));
    }
    co_return reduced;
  }

 private:
  [[nodiscard]] Seconds decoding(Words own, Words all) const {
    const auto entries = [entry = setup_.space.precision.entry()](Words words) {
      return static_cast<double>(words.value()) / entry;
    };
    if (style_.sparse_decoding) {
      return sparse_decoding(setup_.prices, setup_.gamma.entry, setup_.space.components,
                             entries(all - own));
    }
    return dense_decoding(setup_.prices, setup_.gamma.word, setup_.space.components, entries(all),
                          setup_.ranks);
  }

  [[nodiscard]] Task<Concatenation> gather(Communicator& comm, Message message) const {
    return style_.ring ? allgather_ring(comm, std::move(message))
                       : allgather(comm, std::move(message));
  }

  const SchemeSetup& setup_;
  GatherStyle style_;
};

Cost gather_cost(const CostInput& in, GatherStyle style) {
  const double p = in.ranks;
  const double steps = style.ring ? p - 1 : ceil_log2(in.ranks);
  const auto counted = [&](double k) {
    return Terms{(style.sizes ? 2 : 1) * steps, in.entry() * k * (p - 1), 0};
  };
  const Terms added{0, style.sizes ? p - 1 : 0, 0};
  return {.paper = {},
          .counted = {counted(in.least()), counted(in.most())},
          .added = same(added),
          .exact = in.even()};
}

}  // namespace

SchemeInfo gather_scheme(std::string name, GatherStyle style) {
  const OptionInfo decoding{"sparse_decoding", style.sparse_decoding, 0,
                            "merge what was gathered; false: scatter each into a dense vector"};
  return {.name = std::move(name),
          .paper = {.latency = style.ring ? "P-1" : (style.sizes ? "2 log P" : "log P"),
                    .words = "2k (P-1)",
                    .reduced = "sparse_decoding k (P-1) + (1 - sparse_decoding) n P"},
          .exact_when = "all ranks select k",
          .added = style.sizes ? "P-1 words of sizes" : "",
          .independent_iterations = true,
          .options = {decoding},
          .run_cost = [style](const CostInput& in) { return gather_cost(in, style); },
          .collective =
              [style](const SchemeSetup& setup) { return std::make_unique<Gather>(setup, style); },
          .carries_slots = true};
}

}  // namespace thinwire::algorithms
