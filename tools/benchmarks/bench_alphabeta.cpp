// Measures messages per second of the α-β machine: bench_alphabeta [--benchmark_filter=...].
//
//   rotated_all_to_all/P   every rank sends 1 KiB to every other, one exchange at a time, through
//                          the Communicator, each message with a payload handle
//   bucketed_all_to_all/P  the same with 16 exchanges under way and lengths that differ, as in oktopk
//   oktopk_steady/P        one steady iteration of oktopk for BERT at density 1%, prepared input
//   peak_rss_MB            peak of the process so far: run one benchmark at a time to read it
//   rss_growth_MB          increase of it by a second, equal run: 0 unless delivered messages leak
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <memory>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "traces/synthetic.hpp"

namespace {

using namespace thinwire;

constexpr double kAlpha = 2e-6;
constexpr double kBetaPerWord = 4e-10;

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

Task<void> rotate(Communicator& comm, Message message) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  for (int step = 1; step < size; ++step) {
    const Rank to((rank + step) % size);
    const Rank from((rank - step + size) % size);
    const Message received = co_await comm.sendrecv(to, message, from, Tag(0));
    benchmark::DoNotOptimize(received.words);
  }
}

Task<void> rotate_bucketed(Communicator& comm, Message message) {
  constexpr int kBucket = 16;
  const int size = comm.size();
  const int rank = comm.rank().value();
  struct Step {
    Request send;
    Request receive;
  };
  std::vector<Step> under_way(kBucket);
  for (int step = 1; step < size + kBucket; ++step) {
    Step& place = under_way[static_cast<std::size_t>(step % kBucket)];
    if (step > kBucket) {
      const Message received = co_await comm.wait(place.receive);
      benchmark::DoNotOptimize(received.words);
      co_await comm.wait(place.send);
    }
    if (step >= size) continue;
    place.receive = comm.irecv(Rank((rank - step + size) % size), Tag(0));
    Message next = message;
    next.words = Words(200 + (rank * 7919 + step * 104'729) % 113);
    place.send = comm.isend(Rank((rank + step) % size), Tag(0), std::move(next));
  }
}

void all_to_all(benchmark::State& state, Task<void> (*exchange)(Communicator&, Message)) {
  const auto ranks = static_cast<int>(state.range(0));
  const Message message{DenseBlock(0, std::vector<float>(256)).payload(), Words(256)};
  networks::AlphaBetaNetwork network(networks::alpha_beta(Seconds(kAlpha), Seconds(kBetaPerWord)));
  const auto once = [&] {
    network.run(ranks, [&](Communicator& c) { return exchange(c, message); });
  };
  once();
  const double before = peak_rss_mb();
  for (auto _ : state) once();
  state.SetItemsProcessed(state.iterations() * ranks * (ranks - 1));
  state.counters["peak_rss_MB"] = peak_rss_mb();
  state.counters["rss_growth_MB"] = peak_rss_mb() - before;
}

void rotated_all_to_all(benchmark::State& state) { all_to_all(state, rotate); }
void bucketed_all_to_all(benchmark::State& state) { all_to_all(state, rotate_bucketed); }

Task<void> reduce(Communicator& comm, algorithms::Scheme& scheme,
                  algorithms::LocalGradient gradient, int iteration) {
  const algorithms::Reduced reduced =
      co_await scheme.allreduce(comm, std::move(gradient), iteration);
  benchmark::DoNotOptimize(&reduced);
}

void oktopk_steady(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  const GradientSpace space{.components = 133'547'324, .granule = 64};
  const std::int64_t k = 1'335'424;
  const traces::SyntheticSource source(
      {.ranks = ranks, .space = space, .k = k, .overlap = 0.2, .drift = 0.01});
  const algorithms::SchemeInfo& info = algorithms::find_scheme("oktopk");
  SharedWork shared(4 * static_cast<std::size_t>(ranks));
  const algorithms::SchemeSetup setup{.ranks = ranks,
                                      .space = space,
                                      .k = k,
                                      .gamma = {},
                                      .options = algorithms::Options(info.options, {}),
                                      .shared = &shared};
  std::vector<std::unique_ptr<algorithms::Scheme>> schemes;
  for (int rank = 0; rank < ranks; ++rank) schemes.push_back(info.make(setup));
  networks::AlphaBetaNetwork network(networks::alpha_beta(Seconds(kAlpha), Seconds(kBetaPerWord)));

  std::int64_t messages = 0;
  std::vector<algorithms::LocalGradient> gradients;
  const auto make_input = [&](int iteration) {
    gradients.clear();
    for (int rank = 0; rank < ranks; ++rank) {
      gradients.emplace_back(source.sparse(Rank(rank), iteration));
    }
  };
  const auto iterate = [&](int iteration) {
    const RunReport report = network.run(ranks, [&](Communicator& comm) {
      const auto at = static_cast<std::size_t>(comm.rank().value());
      return reduce(comm, *schemes[at], std::move(gradients[at]), iteration);
    });
    for (const RankReport& rank : report.ranks) messages += rank.total().messages_sent;
  };
  make_input(1);
  iterate(1);  // sets boundaries and thresholds
  make_input(2);
  messages = 0;
  for (auto _ : state) iterate(2);
  state.SetItemsProcessed(messages);
  state.counters["peak_rss_MB"] = peak_rss_mb();
}

BENCHMARK(rotated_all_to_all)->Arg(256)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(bucketed_all_to_all)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(oktopk_steady)->Arg(1024)->Arg(4096)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
