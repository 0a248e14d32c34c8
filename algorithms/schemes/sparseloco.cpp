// SparseLoCo: the largest entries of every chunk, in few bits, gathered every H iterations (Sarfi,
// Thérien, Lidin, Belilovsky, 2025, arXiv:2508.15706). Of the paper only the abstract was at hand; the
// selection and the quantiser follow CCLoco, the name under which its code was published first
// (chunked top-k; TopKCompressor). Figures are from the authors' descriptions of their trainings.
//
// Schedule: bucket_topk with chunks of 4096 selects; the values are put into 2^bits bins around their
// mean (sim/core/gradient/packed_sparse.hpp); an allgather of levels, indexes and codes; each rank
// adds the P vectors. The H local steps are a setting of the training, `workload.local_steps`.
// An index counts within its chunk, so that it takes 12 bits with chunks of 4096. A chunk sends as
// many entries as its share of k; where the accumulator holds fewer, the rest are zeros, as in the
// published code. With another sparsifier indexes take 32 bits.
// Error feedback keeps what rounding changed, too. Left out: the decay of the residual; levels of
// each tensor (ours: of the whole gradient); the chunks of 64 x 64 of a matrix (ours: of
// consecutive components); the published denser code for indexes, of which no description was read.
//
// Cost with L = 2^bits + ceil(k (index bits + bits)/32): ceil(log P) α + (P-1) L β; exact at any P.
// Work: at a device's prices, reading all components (bucket_topk), reducing k values to few bits,
// restoring the values of all ranks, and adding them.
// Values: statistical gradients have none, and the same messages and times.
// Restrictions: none. Memory: the selections, and one sum for all ranks.
//
// Worked example: P = 8, n = 409,600, k = 6,400 (64 of 4096): 14 bits an entry, 2,800 words and 4 of
// levels; 3 α + 7 · 2,804 β. Dense values and indexes would be 12,800 words.
#include "algorithms/schemes/schemes.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/decoding.hpp"
#include "sim/core/gradient/packed_sparse.hpp"

namespace thinwire::algorithms {

namespace {

const std::string kChunkOption = "bucket_components";  // of bucket_topk

/// Components of a chunk, each of which sends its share; 0 if the sparsifier has none.
std::int64_t chunk_of(const Options& options) {
  return options.all().contains(kChunkOption) ? options.integer(kChunkOption) : 0;
}

class GatherPacked final : public SparseCollective {
 public:
  explicit GatherPacked(const SchemeSetup& setup)
      : setup_(setup),
        packing_{.chunk = chunk_of(setup.options) / setup.space.granule,
                 .coordinates = setup.space.coordinates(),
                 .bits = static_cast<int>(setup.options.integer("bits"))} {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    accumulated = {};
    const SparseVector sent = rounded(selection.selected);
    const std::int64_t components =
        packing_.chunk > 0 ? setup_.carried_k() * setup_.space.granule : setup_.components_in(sent);
    {
      const auto phase = comm.phase("quantisation");
      co_await comm.compute(setup_.prices.quantise.of(components));
    }
    const Message mine{
        PackedSparse::of(sent, packing_),
        Words(SparsePacking::words(components, chunk_of(setup_.options), packing_.bits))};
    Concatenation all = Concatenation::of(comm.rank(), mine);
    {
      const auto phase = comm.phase("allgather");
      all = co_await allgather(comm, mine);
    }
    std::int64_t gathered = 0;
    for (const Message& message : all.by_rank()) {
      gathered += static_cast<std::int64_t>(PackedSparse::vector(message.payload).size());
    }
    gathered *= setup_.space.granule;
    {
      const auto phase = comm.phase("quantisation");
      co_await comm.compute(setup_.prices.quantise.of(gathered));
    }
    const auto phase = comm.phase(kLocalReduction);
    co_await comm.compute(sparse_decoding(setup_.prices, setup_.gamma.entry,
                                          setup_.space.components,
                                          static_cast<double>(gathered - components)));
    co_return Reduced{.sum = sum_of(all),
                      .contributed = sent,
                      .sent_approximately = !sent.is_statistical(),
                      .gathered = all.message().words,
                      .sent = mine.words,
                      .decoded = true};
  }

 private:
  /// What remains of a selection when it is sent. Sets the levels.
  [[nodiscard]] SparseVector rounded(const SparseVector& selected) {
    if (selected.is_statistical()) return selected;
    const SparseVector all =
        packing_.chunk > 0 ? filled(selected, setup_.carried_k(), packing_) : selected;
    Binned result = binned(all, packing_.bits);
    packing_.levels = std::move(result.levels);
    return std::move(result.vector);
  }

  [[nodiscard]] SparseVector sum_of(const Concatenation& all) const {
    const std::array inputs{all.message()};
    const Message total = setup_.shared->once("sum of packed", all.contents(), inputs, [&] {
      std::vector<SparseVector> vectors;
      for (const Message& message : all.by_rank()) {
        vectors.push_back(PackedSparse::vector(message.payload));
      }
      return Message{sum(vectors).payload(), Words(0)};
    });
    return SparseVector::from(total.payload);
  }

  const SchemeSetup& setup_;
  SparsePacking packing_;
};

Cost sparseloco_cost(const CostInput& in) {
  const double p = in.ranks;
  const std::int64_t chunk = chunk_of(*in.options);
  const auto bits = static_cast<int>(in.options->integer("bits"));
  const auto terms = [&](double k) {
    const auto words =
        static_cast<double>(SparsePacking::words(static_cast<std::int64_t>(k), chunk, bits));
    return Terms{ceil_log2(in.ranks), words * (p - 1), k * (p - 1)};
  };
  const auto k = static_cast<double>(in.k);
  const bool chunked = chunk > 0;
  return {.paper = {},
          .counted = {terms(chunked ? k : in.least()), terms(chunked ? k : in.most())},
          .added = {},
          .exact = chunked || in.even()};
}

/// Indexes count within a chunk if there are chunks.
SchemeInfo with_indexes(SchemeInfo info) {
  const bool chunked = info.sparsifier == "bucket_topk";
  info.paper.words =
      chunked ? "k (P-1) (ceil(log bucket_components) + bits)/32" : "k (P-1) (32 + bits)/32";
  return info;
}

}  // namespace

SchemeInfo sparseloco_scheme() {
  return {
      .name = "sparseloco",
      .needs = "bucket_components divisible by the granule",
      .paper = {.latency = "log P", .words = "", .reduced = "k (P-1)", .ours = true},
      .exact_when = "always",
      .added = "nothing: the counted words include levels and rounding up",
      .approximate = true,
      .own_format = true,
      .options = {{"bits", std::int64_t{2}, 1, "of a value: 1, 2, 4 or 8", {1, 2, 4, 8}}},
      .run_cost = sparseloco_cost,
      .collective = [](const SchemeSetup& setup) { return std::make_unique<GatherPacked>(setup); },
      .decorate = with_indexes};
}

}  // namespace thinwire::algorithms
