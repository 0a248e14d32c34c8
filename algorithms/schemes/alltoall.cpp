// The all-to-alls of dense blocks, as MPI libraries name them. n is what a rank sends in all, its
// own block included: block j of its vector, n/P words, goes to rank j.
//
//   alltoall_pairwise  (P-1) α + n (P-1)/P β    (Open MPI's pairwise)
//   alltoall_linear    (P-1) α + n (P-1)/P β    (Open MPI's linear, and linear_sync with `requests`)
//   alltoall_bruck     log P α + n/2 log P β    (Bruck et al., IEEE TPDS 1997; Open MPI's
//                                                modified_bruck)
//
// Exact with the added terms where P divides n. Pairwise is always exact, and linear if all messages
// are posted at once, since rank 0 receives the longest blocks one after another. Otherwise the cost is
// an interval: blocks that differ by a word meet in different steps. If P is no power of two, Bruck's
// last step carries fewer blocks, and blocks travel by as many messages as their distance has bits.
// The result of rank r has P blocks, by sender, as one dense block from coordinate 0 on.
//
// Worked example: n = 12, P = 4, bruck: blocks of 3 words. In the first step a rank sends the blocks
// for rank + 1 and rank + 3, in the second the blocks for rank + 2 and rank + 3: 2 messages and 12 words,
// where pairwise sends 3 messages and 9 words.
#include "algorithms/schemes/schemes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "algorithms/collectives/alltoall.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kRequests = "requests";

using AlltoallSchedule =
    std::function<Task<std::vector<Message>>(Communicator&, std::vector<Message>)>;

/// The received blocks in the order of their senders, from coordinate 0 on.
DenseBlock joined_by_sender(const std::vector<Message>& received) {
  std::vector<DenseBlock> blocks;
  std::size_t size = 0;
  bool valueless = false;
  for (const Message& message : received) {
    blocks.push_back(DenseBlock::from(message.payload));
    size += blocks.back().size();
    valueless = valueless || blocks.back().is_valueless();
  }
  if (valueless) return DenseBlock::valueless(0, static_cast<std::uint32_t>(size));
  std::vector<float> values;
  values.reserve(size);
  for (const DenseBlock& block : blocks) {
    values.insert(values.end(), block.values().begin(), block.values().end());
  }
  return {0, std::move(values)};
}

Task<Message> exchange_blocks(const AlltoallSchedule& schedule, Communicator& comm, Message whole,
                              const Reduction& reduction) {
  std::vector<Message> blocks;
  blocks.reserve(static_cast<std::size_t>(comm.size()));
  for (int to = 0; to < comm.size(); ++to) {
    blocks.push_back(reduction.cut(whole, {to, to + 1}, comm.size()));
  }
  const std::vector<Message> received = co_await schedule(comm, std::move(blocks));
  co_return Message{joined_by_sender(received).payload(), whole.words};
}

/// The terms of `messages` messages with the words of `blocks` blocks, all as long as the shortest block,
/// and all as long as the longest.
Interval terms_of_blocks(const CostInput& in, double messages, double blocks) {
  const auto terms = [&](std::int64_t words) {
    return Terms{messages, blocks * static_cast<double>(words), 0};
  };
  return {terms(in.n / in.ranks), terms(part_begin(in.n, in.ranks, 1))};
}

Cost direct_cost(const CostInput& in, bool longest) {
  const double p = in.ranks;
  Interval run = terms_of_blocks(in, p - 1, p - 1);
  if (longest) run.low = run.high;
  return interval_cost({0, static_cast<double>(in.n) * (p - 1) / p, 0}, run);
}

Cost pairwise_cost(const CostInput& in) { return direct_cost(in, true); }

Cost linear_cost(const CostInput& in) {
  const std::int64_t requests = in.options->integer(kRequests);
  return direct_cost(in, requests <= 1 || requests >= in.ranks - 1);
}

Cost bruck_cost(const CostInput& in) {
  double blocks = 0;
  for (int distance = 1; distance < in.ranks; distance *= 2) {
    blocks += bruck_blocks(in.ranks, distance);
  }
  const double log = std::log2(static_cast<double>(in.ranks));
  return interval_cost({0, static_cast<double>(in.n) / 2 * log, 0},
                       terms_of_blocks(in, ceil_log2(in.ranks), blocks));
}

}  // namespace

std::vector<SchemeInfo> alltoall_schemes() {
  using BindSchedule = std::function<AlltoallSchedule(const SchemeSetup&)>;
  const auto entry = [](std::string name, std::string summary, std::string source, PaperCost paper,
                        std::string exact_when, std::string added, Cost (*cost)(const CostInput&),
                        BindSchedule bind, std::vector<OptionInfo> options = {}) {
    return SchemeInfo{.name = std::move(name),
                      .collective_kind = Collective::alltoall,
                      .summary = std::move(summary),
                      .source = std::move(source),
                      .paper = std::move(paper),
                      .exact_when = std::move(exact_when),
                      .added = std::move(added),
                      .dense = true,
                      .options = std::move(options),
                      .run_cost = cost,
                      .make = [bind](const SchemeSetup& setup) {
                        return dense_collective(setup, "alltoall",
                                                std::bind_front(exchange_blocks, bind(setup)));
                      }};
  };
  const PaperCost direct{.latency = "P-1", .words = "n (P-1)/P", .ours = true};
  const OptionInfo requests{kRequests, std::int64_t{0}, 0,
                            "exchanges in flight together; 0: all P-1"};
  const auto linear = [](const SchemeSetup& setup) -> AlltoallSchedule {
    return [requests = setup.options.integer(kRequests)](Communicator& comm,
                                                         std::vector<Message> blocks) {
      const auto in_flight = std::min<std::int64_t>(requests, comm.size());
      return alltoall_linear(comm, std::move(blocks), static_cast<int>(in_flight));
    };
  };
  const auto bruck = [](const SchemeSetup& setup) -> AlltoallSchedule {
    // Open MPI packs what it sends from its buffer by derived datatypes, so no buffer is registered.
    return [copying = setup.copy_per_word, buffer = setup.fresh.of(setup.space.components, 0)](
               Communicator& comm, std::vector<Message> blocks) -> Task<std::vector<Message>> {
      return alltoall_bruck(comm, std::move(blocks), copying, buffer);
    };
  };
  SchemeInfo by_bits = entry(
      "alltoall_bruck", "blocks joined by the bits of their distance, in log P messages",
      "Bruck et al. (IEEE TPDS 1997)", {.latency = "ceil(log P)", .words = "n/2 log P"},
      "P divides n", "remainders of the blocks; P that is no power of two", bruck_cost, bruck);
  by_bits.copies = true;
  by_bits.allocates = true;
  return {entry("alltoall_pairwise", "step s: a block to rank + s and one from rank - s",
                "Open MPI 4.1, coll_base_alltoall.c, pairwise", direct, "always",
                "remainders of the blocks", pairwise_cost,
                [](const SchemeSetup&) { return alltoall_pairwise; }),
          entry("alltoall_linear",
                "all blocks at once, or some exchanges in flight at a time (linear_sync)",
                "Open MPI 4.1, coll_base_alltoall.c, linear", direct,
                "all or one in flight, or P divides n", "remainders of the blocks", linear_cost,
                linear, {requests}),
          std::move(by_bits)};
}

}  // namespace thinwire::algorithms
