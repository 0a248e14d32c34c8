// spardl: SparDL (Zhao et al., ICDE 2024; arXiv 2304.00737): a reduce-scatter and an allgather of P
// blocks, in which no block ever holds more than its share of k, so that nothing fills in.
//
// Sources: the abstract and the published code (ZJU-DAILY/SparDL, allreducer.py). The paper itself
// could not be read for this. What is ours is marked so.
//
// Schedule, with d teams of m = P/d ranks each and m blocks, of which each may hold q = k/m entries:
//   spar_reduce_scatter  inside each team, in steps of the distances 2^(ceil(log m) - 1) ... 2, 1:
//                        rank w holds blocks w, w+1 ... and sends those from w + distance on to rank
//                        w + distance as one message (a bag), which adds them to its own. A block is
//                        cut to its q largest entries before it is sent, and in the end
//   spar_all_gather      only if d > 1: the ranks of all teams that hold the same block sum it. If d
//                        is a power of two (R-SAG), they exchange it at the distances 1, 2, 4 ... and
//                        keep the q largest of each sum. Otherwise (B-SAG) each sends its h largest
//                        entries by Bruck's allgather, and the q largest of the sum remain; h is
//                        between q/d and q and follows the size of the sum, as in the code
//   allgather            of the m blocks inside each team, Bruck
// m need not be a power of two. In the code each block of a bag is a message, and indexes, values and
// sizes are messages of their own; here a bag is one (ours, after the paper's name for it).
// The code selects from the whole own block after the sum; here from what the sparsifier selected.
//
// Residuals (GRES): an entry that a rank drops on the way is not lost if its index is in the result:
// the rank keeps the partial sum (Reduced::returned), a share of it if other ranks have the same. If
// the index is not in the result, every rank keeps its own value. So residuals and results together
// always are all gradients; a test adds them up.
//
// Cost if every block holds its share:
//   spar_reduce_scatter  ceil(log m) α + 2k (m-1)/m β
//   spar_all_gather      log d α + 2q log d β, or ceil(log d) α + 2h (d-1) β
//   allgather            ceil(log m) α + 2k (m-1)/m β
// With one team 2 ceil(log P) α + 4k (P-1)/P β at any P. Exact if block_topk selects k, P/d divides
// k and d is a power of two. Other sparsifiers fill blocks unevenly: they send less, and lose less
// than they seem to, as a block's surplus returns to the rank.
// Restrictions: `teams` divides P. Memory: a selection, and one result for each team.
//
// Worked example: P = 6, k = 600: blocks of 100 entries; bags of 2, 2 and 1 blocks, and the same in
// the allgather: 6 α + 2000 β.
#include "algorithms/schemes/schemes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/gathered.hpp"
#include "algorithms/collectives/tags.hpp"
#include "algorithms/decoding.hpp"
#include "algorithms/sparsifiers/block_topk.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::algorithms {

namespace {

bool is_power_of_two(std::int64_t number) {
  return std::has_single_bit(static_cast<std::uint64_t>(number));
}

/// The number of entries that the ranks of B-SAG send, which follows the size of their sum. The
/// rule of the published code.
class SentEntries {
 public:
  SentEntries(std::int64_t share, int teams)
      : share_(share), least_(share / teams), now_(least_), step_((share - least_) / 100) {}

  [[nodiscard]] std::int64_t now() const { return now_; }
  void follow(std::int64_t united) {
    if ((united > share_) != (step_ > 0)) {
      if (moving_) step_ *= 2;
      moving_ = !moving_;
    } else {
      step_ = std::abs(step_) > 1 ? -step_ / 2 : -step_;
      moving_ = false;
    }
    now_ = std::clamp(now_ + step_, least_, share_);
  }

 private:
  std::int64_t share_;
  std::int64_t least_;
  std::int64_t now_;
  std::int64_t step_;
  bool moving_ = false;
};

class SparDl final : public SparseCollective {
 public:
  explicit SparDl(const SchemeSetup& setup)
      : setup_(setup), teams_(teams_of(setup)), blocks_(setup, setup.ranks / teams_) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    Selection selection = co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector selected = selection.selected;
    accumulated = {};
    const int members = blocks_.count();
    const int team = comm.rank().value() / members;
    Group inside(comm, {.first = team * members, .count = members, .stride = 1});
    const bool by_block = std::cmp_equal(selection.blocks.size(), members);
    dropped_.clear();
    Task<SparseVector> scattering =
        reduce_scatter(inside, by_block ? std::move(selection.blocks) : blocks_.cut(selected));
    SparseVector block = co_await std::move(scattering);
    if (teams_ > 1) {
      Group across(comm, {.first = inside.rank().value(), .count = teams_, .stride = members});
      Task<SparseVector> summing = spar_all_gather(across, std::move(block), inside.rank());
      block = co_await std::move(summing);
    }
    const auto phase = comm.phase("allgather");
    const Concatenation all = co_await allgather(inside, block.message(setup_.space));
    const SparseVector result = concatenation_of_gathered(all, *setup_.shared);
    const SparseVector dropped = sum(dropped_);
    co_await comm.compute(
        intersecting(setup_.prices, setup_.space.components,
                     setup_.components_in(selected) + setup_.components_in(dropped),
                     setup_.components_in(result)));
    co_return Reduced{.sum = result,
                      .contributed = intersect(selected, result),
                      .returned = intersect(dropped, result)};
  }

 private:
  static int teams_of(const SchemeSetup& setup) {
    const std::int64_t teams = setup.options.integer(kTeamsOption);
    if (setup.ranks % teams != 0) {
      throw InputError("option '{}' must divide the number of ranks: {} does not divide {}",
                       kTeamsOption, teams, setup.ranks);
    }
    return static_cast<int>(teams);
  }

  [[nodiscard]] bool recursive() const { return is_power_of_two(teams_); }

  /// The largest entries of a block. The rank keeps the others, or its part of them if as many ranks
  /// as `holders` drop the same ones.
  [[nodiscard]] SparseVector cut_down(const SparseVector& block, std::int64_t entries,
                                      int holders = 1) {
    if (std::cmp_less_equal(block.size(), entries)) return block;
    SparseVector kept = select_largest(block, entries);
    dropped_.push_back(scaled(without(block, kept), 1.0F / static_cast<float>(holders)));
    return kept;
  }

  [[nodiscard]] SparseVector added(const SparseVector& a, const SparseVector& b, int block) const {
    return sum_within(a, b, blocks_.begin(block), blocks_.begin(block + 1));
  }

  /// The time to add the entries of a message and to find the largest of the sum.
  [[nodiscard]] Seconds adding(Words words) const {
    const auto entries =
        std::llround(static_cast<double>(words.value()) / setup_.space.precision.entry());
    return setup_.gamma.entry * static_cast<double>(entries) + setup_.prices.sort.of(2 * entries);
  }

  /// The sum of this rank's block over the team.
  Task<SparseVector> reduce_scatter(Communicator& team, std::vector<SparseVector> blocks) {
    const auto phase = team.phase("spar_reduce_scatter");
    const int members = team.size();
    const int own = team.rank().value();
    const auto block_at = [&](int place) { return (own + place) % members; };
    int held = members;
    for (int distance = static_cast<int>(std::bit_ceil(static_cast<unsigned>(members)) / 2);
         distance > 0; distance /= 2) {
      std::vector<Concatenation::Piece> bag;
      for (int place = distance; place < held; ++place) {
        const int block = block_at(place);
        const SparseVector sent =
            cut_down(blocks[static_cast<std::size_t>(block)], blocks_.share(block));
        bag.push_back({Rank(block), sent.message(setup_.space)});
      }
      const Message message = Concatenation::of(std::move(bag)).message();
      const Message received =
          co_await team.sendrecv(Rank((own + distance) % members), message,
                                 Rank((own - distance + members) % members), kReduceScatterTag);
      for (const Concatenation::Piece& piece : Concatenation::from(received.payload).in_order()) {
        const int block = piece.from.value();
        SparseVector& mine = blocks[static_cast<std::size_t>(block)];
        mine = added(mine, SparseVector::from(piece.message.payload), block);
      }
      co_await team.compute(adding(received.words));
      held = distance;
    }
    const SparseVector& mine = blocks[static_cast<std::size_t>(own)];
    co_return cut_down(mine, recursive() ? blocks_.share(own) : sent_entries(own).now());
  }

  SentEntries& sent_entries(int block) {
    if (sent_.empty()) sent_.emplace_back(blocks_.share(block), teams_);
    return sent_.front();
  }

  /// The sum of a block over the teams.
  Task<SparseVector> spar_all_gather(Communicator& across, SparseVector mine, Rank block) {
    const auto phase = across.phase("spar_all_gather");
    const int number = block.value();
    const std::int64_t share = blocks_.share(number);
    if (!recursive()) {
      const Concatenation all = co_await allgather_bruck(across, mine.message(setup_.space));
      co_await across.compute(adding(all.message().words - mine.message(setup_.space).words));
      const SparseVector united = sum_of_gathered(all, *setup_.shared);
      sent_entries(number).follow(static_cast<std::int64_t>(united.size()));
      co_return cut_down(united, share, teams_);
    }
    for (int distance = 1; distance < across.size(); distance *= 2) {
      const Rank peer(across.rank().value() ^ distance);
      const Message received =
          co_await across.sendrecv(peer, mine.message(setup_.space), peer, kAllreduceTag);
      co_await across.compute(adding(received.words));
      const SparseVector both = added(mine, SparseVector::from(received.payload), number);
      mine = cut_down(both, share, 2 * distance);
    }
    co_return mine;
  }

  const SchemeSetup& setup_;
  int teams_;
  Blocks blocks_;
  std::vector<SparseVector> dropped_;  ///< in this iteration
  std::vector<SentEntries> sent_;      ///< of B-SAG; empty before the first iteration
};

Cost spardl_cost(const CostInput& in, bool by_block) {
  const std::int64_t teams = in.options->integer(kTeamsOption);
  if (in.ranks % teams != 0) return {};
  const auto members = static_cast<int>(in.ranks / teams);
  const auto d = static_cast<double>(teams);
  const double m = members;
  const auto granule = static_cast<double>(in.granule);
  const double carried = std::floor(static_cast<double>(in.k) / granule);
  const double share = granule * carried / m;
  const double most = granule * std::ceil(carried / m);
  const bool full = by_block && in.even() && in.least() == granule * carried;
  const double least = full ? granule * std::floor(carried / m) : 0;
  const double across = ceil_log2(static_cast<int>(teams));
  const double messages = 2 * ceil_log2(members) + across;
  const bool recursive = is_power_of_two(teams);
  // The words, and the values that are added, if every block holds so many entries.
  const auto terms = [&](double entries, double gathered) {
    return Terms{messages, in.entry() * (2 * entries * (m - 1) + gathered),
                 entries * (m - 1) + gathered};
  };
  Cost cost;
  const double low = granule * std::floor(least / granule / d) * (d - 1);
  cost.counted = {terms(least, recursive ? least * across : low),
                  terms(share, share * (recursive ? across : d - 1))};
  cost.added.high = {0, in.entry() * (most - share) * (2 * (m - 1) + d - 1),
                     (most - share) * (m - 1 + d - 1)};
  cost.exact = full && least == most && (recursive || teams == 1);
  return cost;
}

}  // namespace

SchemeInfo spardl_scheme() {
  const std::string rounds = "2 ceil log(P/teams) + ceil log teams";
  return {
      .name = "spardl",
      .summary =
          "reduce-scatter of P blocks, each cut to its share of k before it is sent; Bruck's "
          "allgather",
      .source = "SparDL (ICDE 2024), abstract and published code",
      .needs = "P divisible by teams",
      .paper = {.latency = rounds,
                .words = "4k (P-teams)/P + 2k (teams-1)/P",
                .words_high = "4k (P-teams)/P + 2k teams (teams-1)/P",
                .reduced = "k (P-teams)/P + k (teams-1)/P",
                .reduced_high = "k (P-teams)/P + k teams (teams-1)/P"},
      .exact_when = "block_topk selects k, P/teams divides k, teams is a power of two",
      .added = "shares of k that are not equal; blocks that hold less",
      .options = {{.name = kTeamsOption,
                   .fallback = std::int64_t{1},
                   .minimum = 1,
                   .help = "d, the number of teams, which divides P: fewer messages, more words"}},
      .collective = [](const SchemeSetup& setup) { return std::make_unique<SparDl>(setup); },
      .decorate =
          [](SchemeInfo info) {
            const bool by_block = info.sparsifier == "block_topk";
            info.run_cost = [by_block](const CostInput& in) { return spardl_cost(in, by_block); };
            return info;
          },
      .selects_result = true,
      .drops_partial_sums = true,
      .returns_dropped = true};
}

}  // namespace thinwire::algorithms
