// omnireduce: OmniReduce (Fei et al., SIGCOMM 2021) with an aggregator beside each worker: the gradient
// travels in blocks of consecutive components, and only blocks that hold a non-zero value do.
//
// Sources: the published code (sands-lab/omnireduce, worker.cpp and aggregator.cpp of the RDMA
// version), its documentation of the experiments, and what ZEN (OSDI 2025, sections 2.4 and 3.3) says
// of it. The paper itself could not be read for this. What is ours is marked so.
//
// Rank i aggregates every P-th block, beginning with block i (`contiguous`: an equal part of
// consecutive blocks, as ZEN describes it). An aggregator has `streams` streams (slots in the code);
// the blocks of an aggregator belong to them in turn, and each stream is at one block at a time.
//   round 1    every worker sends the first block of each stream, zero or not, and with it the number
//              of its next non-zero block of that stream
//   response   the aggregator sends the sum of the block to all workers, and asks for the smallest of
//              the next numbers
//   round 2 .. the workers whose next block it is send it, with the number of the one after it
// until no worker has another block of any stream.
// The streams of an aggregator go on together, all blocks of a round in one message (ours: in the
// code each block, or a few, is a message, and streams do not wait for one another; there the time of
// a message is hidden by the others in flight, here it is paid once a round).
//
// A block counts 2 words besides its values: its number (the code has the slot's, in the immediate
// data of the message) and the next one's. Blocks are rounded up to whole granules.
//
// Cost, with D words in non-zero blocks of a rank and U in blocks of all ranks together:
//   (D + U) (P-1)/P β + 2 (P-1) α a round; k <= D <= block k, D <= U <= P D, both at most n
// The formula has these ends. Added: the header of each block, the first blocks that are zero, and
// blocks that are not spread evenly over aggregators. The sum equals topka's.
//
// Local work on a device: one pass over the gradient to find the non-zero blocks.
// Not modelled: aggregators on machines of their own (then a rank sends D and receives U at once), the
// switch, and sparse blocks of keys and values.
// Restrictions: none.
// Memory: what each rank knows of its non-zero blocks; a result for all ranks.
//
// Worked example: P = 2, n = 1024, block = 256, 4 blocks, all of them not zero on both ranks: rank 0
// sends blocks 1 and 3 and receives 0 and 2, then the sums: 2 α + 2 · 2 · 258 β.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/collectives/tags.hpp"
#include "sim/core/gradient/block_batch.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/nonzero_blocks.hpp"

namespace thinwire::algorithms {

namespace {

using Block = BlockBatch::Block;
using Content = BlockBatch::Content;
constexpr std::uint32_t kEnd = BlockBatch::kEnd;
/// A place that only other aggregators have.
constexpr std::uint32_t kBeyond = kEnd - 1;

const std::string kBlockOption = "block";
const std::string kStreamsOption = "streams";
const std::string kContiguousOption = "contiguous";

/// The blocks of a gradient, and which aggregator and stream each belongs to.
class BlockPlan {
 public:
  explicit BlockPlan(const SchemeSetup& setup)
      : ranks_(setup.ranks),
        streams_(static_cast<std::uint32_t>(
            std::min(setup.options.integer(kStreamsOption), setup.space.components))),
        contiguous_(setup.options.flag(kContiguousOption)) {
    const std::int64_t granule = setup.space.granule;
    const std::int64_t block =
        std::min(setup.options.integer(kBlockOption), setup.space.components);
    size_.width = static_cast<std::uint32_t>((block + granule - 1) / granule);
    size_.coordinates = static_cast<std::uint32_t>(setup.space.coordinates());
  }

  [[nodiscard]] const BlockSize& size() const { return size_; }
  [[nodiscard]] int aggregator_of(std::uint32_t block) const {
    if (!contiguous_) return static_cast<int>(block % static_cast<std::uint32_t>(ranks_));
    const std::uint32_t all = size_.count();
    const auto ranks = static_cast<std::uint32_t>(ranks_);
    const std::uint32_t longer = all % ranks * (all / ranks + 1);
    if (block < longer) return static_cast<int>(block / (all / ranks + 1));
    return static_cast<int>(all % ranks + (block - longer) / (all / ranks));
  }
  [[nodiscard]] std::uint32_t blocks_of(int aggregator) const {
    return static_cast<std::uint32_t>(part_length(size_.count(), ranks_, aggregator));
  }
  [[nodiscard]] std::uint32_t streams_of(int aggregator) const {
    return std::min(streams_, blocks_of(aggregator));
  }
  [[nodiscard]] std::size_t all_streams() const {
    std::size_t all = 0;
    for (int aggregator = 0; aggregator < ranks_; ++aggregator) all += streams_of(aggregator);
    return all;
  }
  /// The block at a place among the blocks of its aggregator.
  [[nodiscard]] std::uint32_t block_at(int aggregator, std::uint32_t place) const {
    if (!contiguous_) {
      return static_cast<std::uint32_t>(aggregator) + static_cast<std::uint32_t>(ranks_) * place;
    }
    return static_cast<std::uint32_t>(part_begin(size_.count(), ranks_, aggregator)) + place;
  }
  /// How far apart the blocks of a stream are.
  [[nodiscard]] std::uint32_t stride_of(int aggregator) const {
    return streams_of(aggregator) * (contiguous_ ? 1 : static_cast<std::uint32_t>(ranks_));
  }
  /// One after the aggregator's last block, or more.
  [[nodiscard]] std::uint32_t end_of(int aggregator) const {
    return contiguous_ ? block_at(aggregator, blocks_of(aggregator)) : size_.count();
  }
  /// The place of a block; if one aggregator stands for others, the place of another one's block.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t block) const {
    return contiguous_ ? block - block_at(aggregator_of(block), 0)
                       : block / static_cast<std::uint32_t>(ranks_);
  }
  [[nodiscard]] std::uint32_t stream_of(int aggregator, std::uint32_t block) const {
    return place_of(block) % streams_of(aggregator);
  }
  /// The aggregator's block at the place of another block, or kBeyond.
  [[nodiscard]] std::uint32_t like(int aggregator, std::uint32_t block) const {
    if (block == kEnd) return kEnd;
    const std::uint32_t place = place_of(block);
    return place < blocks_of(aggregator) ? block_at(aggregator, place) : kBeyond;
  }

 private:
  int ranks_;
  std::uint32_t streams_;
  bool contiguous_;
  BlockSize size_;
};

/// A rank's selection, and which blocks have entries of it.
struct Held {
  const SparseVector& selected;
  std::vector<std::uint32_t> like;  ///< see nonzero_blocks()
  std::vector<bool> nonzero;
};

BlockOwners owners_of(const BlockPlan& plan) {
  return {.blocks = plan.size().count(),
          .owner = [&plan](std::uint32_t block) { return Rank(plan.aggregator_of(block)); },
          .like =
              [&plan](Rank aggregator, std::uint32_t block) {
                const std::uint32_t same = plan.like(aggregator.value(), block);
                return same == kBeyond ? block : same;
              }};
}

/// What a worker has to send to one aggregator. `wanted` is memory for a block of each stream.
class WorkerSide {
 public:
  WorkerSide(const BlockPlan& plan, const Held& held, int aggregator,
             std::span<std::uint32_t> wanted)
      : plan_(plan), held_(held), aggregator_(aggregator), wanted_(wanted) {
    for (std::uint32_t stream = 0; stream < wanted_.size(); ++stream) {
      wanted_[stream] = plan.block_at(aggregator, stream);
    }
  }

  [[nodiscard]] bool active() const {
    return std::ranges::any_of(wanted_, [](std::uint32_t block) { return block != kEnd; });
  }
  /// The blocks that the aggregator asks for and this rank has; of the first round all.
  [[nodiscard]] Content take(bool first_round) const {
    Content content{.size = plan_.size()};
    std::vector<std::uint32_t> nonzero;
    std::uint32_t asked_for = 0;
    for (const std::uint32_t block : wanted_) {
      if (block == kEnd) continue;
      ++asked_for;
      if (!has(block) && !first_round) continue;
      content.blocks.push_back({.number = block, .next = next_after(block)});
    }
    std::ranges::sort(content.blocks, {}, &Block::number);
    for (const Block& block : content.blocks) {
      if (!has(block.number)) continue;
      nonzero.push_back(held_.like.empty() ? block.number : held_.like[block.number]);
    }
    content.entries = in_blocks(held_.selected, plan_.size(), nonzero, asked_for);
    return content;
  }
  /// Hears which blocks the aggregator asks for.
  void hear(const Content& response) {
    std::ranges::fill(wanted_, kEnd);
    for (const Block& block : response.blocks) {
      wanted_[plan_.stream_of(aggregator_, block.number)] = plan_.like(aggregator_, block.next);
    }
  }

 private:
  [[nodiscard]] bool has(std::uint32_t block) const {
    return block < plan_.end_of(aggregator_) && held_.nonzero[block];
  }
  /// The rank's next non-zero block in the same stream.
  [[nodiscard]] std::uint32_t next_after(std::uint32_t block) const {
    const std::uint64_t stride = plan_.stride_of(aggregator_);
    const std::uint32_t end = plan_.end_of(aggregator_);
    for (std::uint64_t next = block + stride; next < end; next += stride) {
      if (has(static_cast<std::uint32_t>(next))) return static_cast<std::uint32_t>(next);
    }
    return kEnd;
  }

  const BlockPlan& plan_;
  const Held& held_;
  int aggregator_;
  std::span<std::uint32_t> wanted_;  // by stream
};

/// What an aggregator knows of all workers.
class AggregatorSide {
 public:
  AggregatorSide(const BlockPlan& plan, int rank, int ranks)
      : plan_(plan),
        rank_(rank),
        streams_(plan.streams_of(rank)),
        nexts_(static_cast<std::size_t>(ranks) * streams_, kEnd),
        wanted_(streams_),
        sends_(static_cast<std::size_t>(ranks), streams_ > 0) {
    for (std::uint32_t stream = 0; stream < streams_; ++stream) {
      wanted_[stream] = plan.block_at(rank, stream);
    }
  }

  [[nodiscard]] bool active() const { return std::ranges::find(sends_, true) != sends_.end(); }
  /// Whether a worker sends something in this round.
  [[nodiscard]] const std::vector<bool>& sends() const { return sends_; }
  void take(int worker, const Content& content) {
    for (const Block& block : content.blocks) {
      const std::uint32_t next = plan_.like(rank_, block.next);
      next_of(static_cast<std::size_t>(worker), plan_.stream_of(rank_, block.number)) =
          next == kBeyond ? kEnd : next;
    }
  }
  /// The blocks of this round, and for each the smallest next one of all workers.
  [[nodiscard]] std::vector<Block> finish_round() {
    std::vector<Block> blocks;
    sends_.assign(sends_.size(), false);
    for (std::uint32_t stream = 0; stream < streams_; ++stream) {
      if (wanted_[stream] == kEnd) continue;
      std::uint32_t next = kEnd;
      for (std::size_t worker = 0; worker < sends_.size(); ++worker) {
        next = std::min(next, next_of(worker, stream));
      }
      blocks.push_back({.number = wanted_[stream], .next = next});
      wanted_[stream] = next;
      if (next == kEnd) continue;
      for (std::size_t worker = 0; worker < sends_.size(); ++worker) {
        if (next_of(worker, stream) == next) sends_[worker] = true;
      }
    }
    std::ranges::sort(blocks, {}, &Block::number);
    return blocks;
  }

 private:
  std::uint32_t& next_of(std::size_t worker, std::uint32_t stream) {
    return nexts_[worker * streams_ + stream];
  }

  const BlockPlan& plan_;
  int rank_;
  std::uint32_t streams_;
  std::vector<std::uint32_t> nexts_;   // [worker][stream]
  std::vector<std::uint32_t> wanted_;  // [stream]
  std::vector<bool> sends_;            // [worker]
};

/// Messages by rank; none where nothing is sent or received.
using Mail = std::vector<std::optional<Message>>;

/// Sends a message to each rank that has one in `out`, and receives from the ranks in `from`.
Task<Mail> exchange_mail(Communicator& comm, Mail out, std::vector<bool> from) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  std::vector<Request> requests;
  std::vector<int> senders;  // of a request; -1: it is a send
  for (int step = 1; step < size; ++step) {
    const int source = (rank - step + size) % size;
    const int target = (rank + step) % size;
    if (from[static_cast<std::size_t>(source)]) {
      requests.push_back(comm.irecv(Rank(source), kExchangeTag));
      senders.push_back(source);
    }
    if (auto& message = out[static_cast<std::size_t>(target)]) {
      requests.push_back(comm.isend(Rank(target), kExchangeTag, std::move(*message)));
      senders.push_back(-1);
    }
  }
  out = {};
  std::vector<Message> received = co_await comm.wait_all(requests);
  Mail in(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < senders.size(); ++i) {
    if (senders[i] >= 0) in[static_cast<std::size_t>(senders[i])] = std::move(received[i]);
  }
  co_return in;
}

class OmniReduce final : public SparseCollective {
 public:
  explicit OmniReduce(const SchemeSetup& setup) : setup_(setup), plan_(setup) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    const Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier, accumulated, iteration);
    const SparseVector& selected = selection.selected;
    accumulated = {};
    if (setup_.ranks == 1) co_return Reduced{.sum = selected, .contributed = selected};
    const int rank = comm.rank().value();
    const Seconds finding = setup_.prices.scan.of(setup_.space.components);
    if (finding > Seconds(0)) {
      const auto phase = comm.phase(kSparsification);
      co_await comm.compute(finding);
    }
    std::vector<std::uint32_t> like = setup_.roles->blocks_like(comm, owners_of(plan_));
    std::vector<bool> nonzero = nonzero_blocks(selected, plan_.size(), like);
    const Held held{.selected = selected, .like = std::move(like), .nonzero = std::move(nonzero)};
    std::vector<std::uint32_t> wanted(plan_.all_streams());
    std::vector<WorkerSide> sides = sides_of(held, wanted);
    AggregatorSide own(plan_, rank, setup_.ranks);
    std::vector<Concatenation::Piece> responses;
    Words sent;
    for (bool first = true; std::ranges::any_of(sides, &WorkerSide::active); first = false) {
      std::vector<bool> responding;
      Mail requests;
      for (WorkerSide& side : sides) {
        responding.push_back(side.active());
        requests.push_back(request_to(side, first));
      }
      const std::optional<Message> mine = std::exchange(requests[at(rank)], {});
      for (const auto& request : requests) sent += request ? request->words : Words(0);
      Mail arrived;
      {
        const auto phase = comm.phase("push");
        Task<Mail> task = exchange_mail(comm, std::move(requests), own.sends());
        arrived = co_await std::move(task);
        co_await comm.compute(adding(arrived));
      }
      arrived[at(rank)] = mine;
      const bool responds = responding[at(rank)];
      std::optional<Message> own_sums;
      if (responds) own_sums = message_of(summed(own, arrived));
      arrived = {};  // thousands of messages
      const auto phase = comm.phase("pull");
      Task<Mail> task = exchange_mail(comm, Mail(sides.size(), own_sums), std::move(responding));
      Mail sums = co_await std::move(task);
      sums[at(rank)] = own_sums;
      for (int of = 0; of < setup_.ranks; ++of) {
        if (!sums[at(of)]) continue;
        sides[at(of)].hear(BlockBatch::content(sums[at(of)]->payload));
        responses.push_back({Rank(of), std::move(*sums[at(of)])});
      }
    }
    const Concatenation all = Concatenation::of(std::move(responses));
    co_return Reduced{.sum = joined(all),
                      .contributed = selected,
                      .gathered = all.message().words,
                      .sent = sent,
                      .decoded = true};  // blocks are received where they belong
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  /// A worker's sides to all aggregators. `wanted` has a place for each stream.
  [[nodiscard]] std::vector<WorkerSide> sides_of(const Held& held,
                                                 std::span<std::uint32_t> wanted) const {
    std::vector<WorkerSide> sides;
    for (int aggregator = 0; aggregator < setup_.ranks; ++aggregator) {
      const std::uint32_t streams = plan_.streams_of(aggregator);
      sides.emplace_back(plan_, held, aggregator, wanted.first(streams));
      wanted = wanted.subspan(streams);
    }
    return sides;
  }

  /// The message to an aggregator in this round, if there is one.
  [[nodiscard]] std::optional<Message> request_to(const WorkerSide& side, bool first_round) const {
    if (!side.active()) return std::nullopt;
    Content content = side.take(first_round);
    if (content.blocks.empty()) return std::nullopt;
    return message_of(std::move(content));
  }

  [[nodiscard]] Message message_of(Content content) const {
    std::int64_t words = 0;
    for (const Block& block : content.blocks) {
      words += BlockBatch::kBlockHeader +
               setup_.space.component(content.size.begin(block.number + 1)) -
               setup_.space.component(content.size.begin(block.number));
    }
    return {BlockBatch::of(std::move(content)), Words(words)};
  }

  /// The time to add the values of the other ranks' blocks.
  [[nodiscard]] Seconds adding(const Mail& arrived) const {
    double values = 0;
    for (const auto& message : arrived) {
      if (!message) continue;
      const auto blocks =
          static_cast<std::int64_t>(BlockBatch::content(message->payload).blocks.size());
      values += static_cast<double>(message->words.value() - BlockBatch::kBlockHeader * blocks);
    }
    return setup_.gamma.word * values;
  }

  /// The sums of this round's blocks, and what the aggregator asks for next.
  [[nodiscard]] Content summed(AggregatorSide& own, const Mail& arrived) const {
    std::vector<SparseVector> parts;
    for (int worker = 0; worker < setup_.ranks; ++worker) {
      if (!arrived[at(worker)]) continue;
      const Content& content = BlockBatch::content(arrived[at(worker)]->payload);
      own.take(worker, content);
      parts.push_back(content.entries);
    }
    return {.size = plan_.size(), .blocks = own.finish_round(), .entries = thinwire::sum(parts)};
  }

  /// All sums, joined once for all ranks.
  [[nodiscard]] SparseVector joined(const Concatenation& all) const {
    const std::array inputs{all.message()};
    const Message result = setup_.shared->once("blocks joined", all.contents(), inputs, [&] {
      std::vector<SparseVector> parts;
      for (const Concatenation::Piece& piece : all.in_order()) {
        parts.push_back(BlockBatch::content(piece.message.payload).entries);
      }
      return joined_blocks(parts).message(setup_.space);
    });
    return SparseVector::from(result.payload);
  }

  const SchemeSetup& setup_;
  BlockPlan plan_;
};

Cost omnireduce_cost(const CostInput& in) {
  if (in.ranks == 1) return {};
  const double p = in.ranks;
  const auto n = static_cast<double>(in.n);
  const auto granule = static_cast<double>(in.granule);
  const auto block = static_cast<double>(in.options->integer(kBlockOption));
  const double width = granule * std::ceil(block / granule);
  const double blocks = std::ceil(std::ceil(n / width) / p);  // of an aggregator, at most
  const double streams = std::min(blocks, static_cast<double>(in.options->integer(kStreamsOption)));
  const double others = (p - 1) / p;
  const double sent = std::min(n, width * in.most());
  const double summed = std::min(n, width * in.most() * p);
  Cost cost;
  cost.counted.low = {2 * (p - 1), 2 * in.least() * others, 0};
  cost.counted.high = {2 * (p - 1) * std::ceil(blocks / streams), (sent + summed) * others,
                       sent * others};
  // All blocks of an aggregator, and in each round as many as it has streams.
  const double values = (p - 1) * (blocks + streams) * width;
  const double words = (p - 1) * (blocks + streams) * (width + BlockBatch::kBlockHeader);
  cost.added.low.words = 0;
  cost.added.high = {0, std::max(0.0, 2 * words - cost.counted.high.words),
                     std::max(0.0, values - cost.counted.high.reduced)};
  return cost;
}

}  // namespace

SchemeInfo omnireduce_scheme() {
  const std::string rounds = "ceil(ceil(n/block)/P/streams)";
  return {
      .name = "omnireduce",
      .summary =
          "non-zero blocks to aggregators on the ranks, which send the sums and ask for the "
          "next blocks",
      .source = "OmniReduce (SIGCOMM 2021), published code",
      .paper = {.latency = "2 (P-1)",
                .words = "2k (P-1)/P",
                .words_high = "(min(n, block k) + min(n, block k P)) (P-1)/P",
                .latency_high = "2 (P-1) max(1, " + rounds + ")",
                .reduced_high = "min(n, block k) (P-1)/P",
                .ours = true},
      .added = "headers of blocks; first blocks that are zero; uneven aggregators",
      .independent_iterations = true,
      .stand_ins = {.unlike_with = kContiguousOption},
      .own_format = true,
      .options = {{.name = kBlockOption,
                   .fallback = std::int64_t{256},
                   .minimum = 1,
                   .help = "components of a block, rounded up to whole granules"},
                  {.name = kStreamsOption,
                   .fallback = std::int64_t{256},
                   .minimum = 1,
                   .help = "blocks that an aggregator has in flight, one of each stream"},
                  {kContiguousOption, false, 0,
                   "an aggregator has consecutive blocks; false: every P-th, as published"}},
      .run_cost = omnireduce_cost,
      .collective = [](const SchemeSetup& setup) { return std::make_unique<OmniReduce>(setup); }};
}

}  // namespace thinwire::algorithms
