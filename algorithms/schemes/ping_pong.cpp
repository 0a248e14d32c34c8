// A message to and fro, as benchmarks measure latency and bandwidth.
//
//   ping_pong  2α + 2n β    (OSU Micro-Benchmarks, osu_latency; half of it is their latency)
//
// Rank 0 sends its vector of n words to the last rank, which sends it back. The ranks between them
// have no part, so that P chooses the distance: with ranks in blocks on hosts, P = 2 is the nearest
// pair. Exact at any P from 2 on and any n; a single rank sends nothing. Ranks 0 and P-1 end with
// the vector of rank 0, and the others with an empty block.
#include "algorithms/schemes/schemes.hpp"

#include <memory>
#include <utility>

#include "algorithms/collectives/tags.hpp"
#include "algorithms/schemes/dense.hpp"

namespace thinwire::algorithms {

namespace {

class PingPong final : public Scheme {
 public:
  explicit PingPong(const SchemeSetup& setup) : space_(setup.space) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int /*iteration*/) override {
    const auto phase = comm.phase("ping_pong");
    const Rank first(0);
    const Rank last(comm.size() - 1);
    Message held;
    if (comm.rank() == first) {
      held = message_of(gradient, space_);
      gradient = {};
      if (last != first) {
        const Request back = comm.irecv(last, kPingPongTag);
        co_await comm.wait(comm.isend(last, kPingPongTag, std::move(held)));
        held = co_await comm.wait(back);
      }
    } else if (comm.rank() == last) {
      gradient = {};
      held = co_await comm.wait(comm.irecv(first, kPingPongTag));
      co_await comm.wait(comm.isend(first, kPingPongTag, held));
    } else {
      co_return Reduced{.sum = DenseBlock(0, {}), .contributed = {}};
    }
    co_return Reduced{.sum = DenseBlock::from(held.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
};

Cost ping_pong_cost(const CostInput& in) {
  const double messages = in.ranks > 1 ? 2 : 0;
  const Terms terms{messages, messages * static_cast<double>(in.n), 0};
  return exact_cost(terms, terms);
}

}  // namespace

SchemeInfo ping_pong_scheme() {
  return {.name = "ping_pong",
          .collective_kind = Collective::ping_pong,
          .summary = "the vector of rank 0 to the last rank and back",
          .source = "OSU Micro-Benchmarks, osu_latency",
          .paper = {.latency = "2 min(1, P-1)", .words = "2n min(1, P-1)", .ours = true},
          .exact_when = "always",
          .dense = true,
          .run_cost = ping_pong_cost,
          .make = [](const SchemeSetup& setup) { return std::make_unique<PingPong>(setup); }};
}

}  // namespace thinwire::algorithms
