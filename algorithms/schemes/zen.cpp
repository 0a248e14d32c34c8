// zen: Balanced Parallelism of ZEN (Wang et al., OSDI 2025; arXiv 2309.13254): the servers of a push
// and a pull are the ranks themselves, and a hash of the index says which one sums it, so that each
// gets an equal share wherever the selected entries lie.
//
// Schedule:
//   hashing   the selected indexes are hashed into P parts (Algorithm 1: h0, the same on all ranks,
//             chooses the part; the others only find a place in it without losing any)
//   push      part i to rank i by direct exchange, destinations rotated, as COO; rank i sums it
//   encoding  a bit for each index that hashes to the rank, whether it is in the sum (Algorithm 2)
//   pull      bitmap and values from each rank to all others, by direct exchange
//   decoding  the bits are turned into indexes, and the values scattered
// Nothing is lost: the sum and the contributions equal topka's.
//
// Cost: with P ranks, K entries in the sum (the paper's γ k, between k and P k):
//   push      (P-1) α + 2k (P-1)/P β
//   pull      (P-1) α + (K + n/32) (P-1)/P β
// Equation 1 has the words of both with COO, 2 (γ + 1) k (P-1)/P; the bitmap (section 3.3.2) makes
// 2K into K + n/32. The paper counts no latency. In its pull, servers each send to all
// workers, so it takes P-1 messages too. Theorem 2: parts are even up to 1 + Θ(sqrt(P log P / k)).
// Ours: for a run, a part of m entries on average has at most m + 8 sqrt(m) + 8; what this and the
// whole words of bitmaps add is in the added terms.
//
// Local work (a training on a device): Algorithm 1 writes k entries to hashed places (`hash`) and
// compacts memory of 2.2 k of them (r1 + r2, section 5.2), which counts as sparsification; encoding
// reads the indexes of the part, decoding tests n bits (`compare`) and scatters K values.
//
// Not modelled: sums inside machines before it (ReduceScatter over NVLink in the paper), and the
// paper's other scheme, Hierarchical Centralization, which it never chose: ssar_recursive_double.
// Restrictions: none. Memory: selections, the sum of each part, one result for all ranks.
//
// Worked example: P = 4, n = 3200, k = 100, every rank selects the same: 3 messages of about 25
// entries (150 words) and 3 of 25 values and 25 words of bitmap (150 words): 6 α + about 300 β.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/collectives/direct_exchange.hpp"
#include "algorithms/decoding.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/hash_bitmap.hpp"
#include "sim/core/gradient/hash_parts.hpp"
#include "sim/core/gradient/numbers.hpp"

namespace thinwire::algorithms {

namespace {

/// The memory of Algorithm 1 in entries of the selection (section 5.2): r1 = 2 and r2 = r1 / 10.
constexpr double kHashMemory = 2.2;

/// Sends part i of a selection to rank i, and takes the parts that are for this rank.
class Push final : public Exchange {
 public:
  Push(std::vector<SparseVector> parts, Rank own, const SchemeSetup& setup)
      : parts_(std::move(parts)), setup_(setup) {
    received_.push_back(parts_[static_cast<std::size_t>(own.value())]);
  }

  [[nodiscard]] Message outgoing(Rank to) override {
    return parts_[static_cast<std::size_t>(to.value())].message(setup_.space);
  }
  [[nodiscard]] Seconds incoming(Rank /*from*/, Message message) override {
    received_.push_back(SparseVector::from(message.payload));
    const double entry = setup_.space.precision.entry();
    return setup_.gamma.entry * std::round(static_cast<double>(message.words.value()) / entry);
  }

  [[nodiscard]] SparseVector sum() const { return thinwire::sum(received_); }

 private:
  std::vector<SparseVector> parts_;
  std::vector<SparseVector> received_;
  const SchemeSetup& setup_;
};

/// Sends the same message to all other ranks, and takes theirs.
class Pull final : public Exchange {
 public:
  Pull(Rank own, const Message& mine) : mine_(mine) { pieces_.push_back({own, mine}); }

  [[nodiscard]] Message outgoing(Rank /*to*/) override { return mine_; }
  [[nodiscard]] Seconds incoming(Rank from, Message message) override {
    pieces_.push_back({from, std::move(message)});
    return Seconds(0);
  }

  [[nodiscard]] Concatenation pieces() && { return Concatenation::of(std::move(pieces_)); }

 private:
  Message mine_;
  std::vector<Concatenation::Piece> pieces_;
};

/// The number of components of each part by hash of the space.
Numbers components_by_hash(const SchemeSetup& setup) {
  const Fingerprint what{static_cast<std::uint64_t>(setup.ranks),
                         static_cast<std::uint64_t>(setup.space.components)};
  const Message shared = setup.shared->once("components by hash", what, {}, [&] {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(setup.ranks));
    const std::int64_t end = setup.space.coordinates();
    for (std::int64_t coordinate = 0; coordinate < end; ++coordinate) {
      const std::uint32_t part = part_by_hash(static_cast<std::uint32_t>(coordinate), setup.ranks);
      counts[part] += setup.space.width(coordinate);
    }
    return Numbers(std::move(counts)).message();
  });
  return Numbers::from(shared.payload);
}

class Zen final : public SparseCollective {
 public:
  explicit Zen(const SchemeSetup& setup) : setup_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    const bool statistical = accumulated.is_statistical();
    accumulated = {};
    if (setup_.ranks == 1) co_return Reduced{.sum = selected, .contributed = selected};
    co_await work(comm, kSparsification, hashing(setup_.components_in(selected)));
    SparseVector part;
    {
      const auto phase = comm.phase("push");
      Push push(parts_by_hash(selected, setup_.ranks), comm.rank(), setup_);
      co_await direct_exchange(comm, push, {});
      part = push.sum();
    }
    const std::int64_t indexes = indexes_of(comm.rank(), statistical);
    co_await work(comm, "encoding", setup_.prices.scan.of(indexes));
    const Concatenation all = co_await pull(comm, part, indexes);
    const SparseVector sum = joined(all);
    co_await work(comm, kDecoding,
                  setup_.prices.compare.of(setup_.space.components) +
                      setup_.prices.scatter.of(setup_.components_in(sum)));
    co_return Reduced{
        .sum = sum, .contributed = selected, .gathered = all.message().words, .decoded = true};
  }

 private:
  static Task<void> work(Communicator& comm, const char* name, Seconds cost) {
    if (cost == Seconds(0)) co_return;
    const auto phase = comm.phase(name);
    co_await comm.compute(cost);
  }

  [[nodiscard]] Seconds hashing(std::int64_t selected) const {
    const double memory = kHashMemory * static_cast<double>(selected);
    return SelectionWork{.hashed = selected, .prefix_summed = std::llround(memory)}.cost(
        setup_.prices);
  }

  /// The components whose index hashes to a rank. The statistical model does not look at each: the
  /// parts differ by the square root of their size.
  [[nodiscard]] std::int64_t indexes_of(Rank rank, bool statistical) {
    if (statistical) return part_length(setup_.space.components, setup_.ranks, rank.value());
    if (!indexes_) indexes_ = components_by_hash(setup_);
    return (*indexes_)[static_cast<std::size_t>(rank.value())];
  }

  Task<Concatenation> pull(Communicator& comm, SparseVector part, std::int64_t indexes) const {
    const auto phase = comm.phase("pull");
    const HashBitmap::Place place{
        .part = static_cast<std::uint32_t>(comm.rank().value()),
        .parts = static_cast<std::uint32_t>(setup_.ranks),
        .coordinates = static_cast<std::uint32_t>(setup_.space.coordinates())};
    const Words words =
        setup_.space.value_words(setup_.components_in(part)) + Words(HashBitmap::words(indexes));
    Pull exchange(comm.rank(), {HashBitmap::of(std::move(part), place), words});
    co_await direct_exchange(comm, exchange, {});
    co_return std::move(exchange).pieces();
  }

  /// The sum that all ranks have received, made once for all of them.
  [[nodiscard]] SparseVector joined(const Concatenation& all) const {
    const std::array inputs{all.message()};
    const Message result = setup_.shared->once("joined by hash", all.contents(), inputs, [&] {
      std::vector<SparseVector> parts;
      for (const Message& piece : all.by_rank()) parts.push_back(HashBitmap::part(piece.payload));
      return joined_by_hash(parts).message(setup_.space);
    });
    return SparseVector::from(result.payload);
  }

  const SchemeSetup& setup_;
  std::optional<Numbers> indexes_;
};

/// The most that one of P parts by hash holds above its share of so many elements: eight standard
/// deviations, and eight elements for the tail where the share is small.
double above_share(double elements, double ranks, double granule) {
  const double share = elements / granule / ranks;
  return granule * std::min(elements / granule - share, 8 * std::sqrt(share) + 8);
}

Cost zen_cost(const CostInput& in) {
  if (in.ranks == 1) return {};
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const auto granule = static_cast<double>(in.granule);
  const double others = (p - 1) / p;
  const double messages = 2 * (p - 1);
  const double most = std::min(in.most() * p, n + granule);
  const double bitmaps = n / 32 * others;
  const double entry = in.entry();
  const double value = in.precision.value();
  Cost cost;
  cost.counted.low = {messages, (entry + value) * in.least() * others + bitmaps, 0};
  // Two ranks whose selections hash to themselves exchange nothing in the push.
  if (in.ranks == 2) cost.added.low.words = -in.least() * value / 2;
  cost.counted.high = {messages, (entry * in.most() + value * most) * others + bitmaps, 0};
  const double pushed = (p - 1) * above_share(in.most(), p, granule);
  const double pulled = (p - 1) * (value * above_share(most, p, granule) +
                                   above_share(n + granule, p, granule) / 32 + 1);
  cost.added.high = {0, entry * pushed + pulled, pushed};
  return cost;
}

}  // namespace

SchemeInfo zen_scheme() {
  return {.name = "zen",
          .summary =
              "entries to the rank that a hash of the index names, which sums them; bitmap and "
              "sums to all",
          .source = "ZEN (OSDI 2025), Balanced Parallelism: Equation 1, Algorithms 1-2",
          .paper = {.latency = "2 (P-1)",
                    .words = "(3k + n/32) (P-1)/P",
                    .words_high = "(2k + min(k P, n) + n/32) (P-1)/P",
                    .reduced_high = "k (P-1)/P"},
          .added = "parts by hash are not quite even; whole words of bitmaps",
          .independent_iterations = true,
          .run_cost = zen_cost,
          .collective = [](const SchemeSetup& setup) { return std::make_unique<Zen>(setup); }};
}

}  // namespace thinwire::algorithms
