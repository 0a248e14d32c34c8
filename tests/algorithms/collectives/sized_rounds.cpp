// Schedules of values that have nothing but lengths take rounds: with the times and the traffic that
// they have with values.
#include "algorithms/collectives/sized_rounds.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/reduce_scatter.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "tests/support/networks.hpp"

namespace thinwire::algorithms {

namespace {

struct Case {
  std::uint32_t length = 0;
  Seconds gamma;
  Precision precision;
};

using Schedule = Task<Message> (*)(Communicator&, Message, const Reduction&);

Task<Message> segmented(Communicator& comm, Message mine, const Reduction& reduction) {
  return allreduce_ring_segmented(comm, std::move(mine), reduction, Words(3));
}

const std::vector<std::pair<const char*, Schedule>> kSchedules{
    {"allreduce_ring", allreduce_ring},
    {"segmented", segmented},
    {"allreduce_recursive_doubling", allreduce_recursive_doubling},
    {"allreduce_rabenseifner", allreduce_rabenseifner},
    {"reduce_scatter_ring", reduce_scatter_ring},
    {"reduce_scatter_pairwise", reduce_scatter_pairwise},
    {"reduce_scatter_recursive_halving", reduce_scatter_recursive_halving}};

/// What the ranks hold in the end, and the report.
struct SizedOutcome {
  RunReport report;
  std::vector<Message> held;
};

Task<void> call(Communicator& comm, Schedule schedule, const Case& of, bool valued,
                const Reduction& reduction, const GradientSpace& space, Message& held) {
  co_await comm.compute(Seconds(1e-6 * (comm.rank().value() % 3)));
  const DenseBlock block = valued ? DenseBlock(0, std::vector<float>(of.length, 1.0F))
                                  : DenseBlock::valueless(0, of.length);
  held = co_await schedule(comm, block.message(space), reduction);
}

SizedOutcome run(Network& network, int ranks, Schedule schedule, const Case& of, bool valued) {
  const GradientSpace space{.components = of.length, .granule = 1, .precision = of.precision};
  SharedWork shared(4 * static_cast<std::size_t>(ranks));
  const GradientReduction reduction(shared, of.gamma, space);
  SizedOutcome outcome{.report = {}, .held = std::vector<Message>(static_cast<std::size_t>(ranks))};
  outcome.report = network.run(ranks, [&](Communicator& comm) {
    Message& held = outcome.held[static_cast<std::size_t>(comm.rank().value())];
    return call(comm, schedule, of, valued, reduction, space, held);
  });
  return outcome;
}

bool same(const SizedOutcome& a, const SizedOutcome& b) {
  for (std::size_t rank = 0; rank < a.held.size(); ++rank) {
    const DenseBlock x = DenseBlock::from(a.held[rank].payload);
    const DenseBlock y = DenseBlock::from(b.held[rank].payload);
    if (a.report.ranks[rank].finished != b.report.ranks[rank].finished) return false;
    if (a.report.ranks[rank].steps != b.report.ranks[rank].steps) return false;
    if (!same_traffic(a.report, b.report, rank)) return false;
    if (a.held[rank].words != b.held[rank].words) return false;
    if (x.first() != y.first() || x.last() != y.last()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Schedules take the same times and messages with lengths alone as with values") {
  test::Networks networks;
  for (const auto& [name, schedule] : kSchedules) {
    for (const int ranks : {1, 2, 3, 5, 8, 12, 16, 17}) {
      for (const Case& of : {Case{.length = 100, .gamma = {}, .precision = {}},
                             Case{.length = 64, .gamma = Seconds(3e-9), .precision = {}},
                             Case{.length = 5, .gamma = Seconds(1e-9), .precision = {}},
                             Case{.length = 77, .gamma = {}, .precision = {.value_bits = 16}}}) {
        CAPTURE(name);
        CAPTURE(ranks);
        CAPTURE(of.length);
        CHECK(same(run(networks.alphabeta, ranks, schedule, of, false),
                   run(networks.alphabeta, ranks, schedule, of, true)));
        CHECK(same(run(networks.counting, ranks, schedule, of, false),
                   run(networks.counting, ranks, schedule, of, true)));
      }
    }
  }
}

}  // namespace thinwire::algorithms
