#include "algorithms/schemes/nccl.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "algorithms/collectives/channels.hpp"
#include "algorithms/registry.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::below;
using test::formula;
using test::Generator;
using test::SchemeRanks;

namespace {

using NcclOptions = std::map<std::string, OptionValue>;

Nodes nodes_for(int ranks, int size) {
  const Options options({node_option()}, {{"node", std::int64_t{size}}});
  return nodes_of(options, ranks, 0);
}

double nccl_seconds(const Terms& terms) {
  return formula(terms.messages, terms.words) + terms.seconds;
}

struct NcclOutcome {
  Terms low;
  Terms high;
  RunReport report;
  double time = 0;
};

/// With the options that the scheme has.
NcclOutcome run_nccl(const std::string& name, int ranks, std::int64_t n, NcclOptions options) {
  const SchemeInfo& info = find_scheme(name);
  std::erase_if(options, [&](const auto& option) {
    return std::ranges::find(info.options, option.first, &OptionInfo::name) == info.options.end();
  });
  // Buckets begin at whole granules.
  const bool buckets = options.contains("bucket_words");
  const GradientSpace space{.components = n,
                            .granule = buckets ? 1 : std::max<std::int64_t>(1, n / 500)};
  test::Networks networks;
  SchemeRanks scheme(info, ranks, space, 0, options);
  const Cost cost = scheme.cost(1);
  NcclOutcome outcome{.low = cost.run().low, .high = cost.run().high, .report = {}};
  const auto zeros = [&](int) {
    return DenseBlock(0, std::vector<float>(static_cast<std::size_t>(space.coordinates())));
  };
  outcome.report = scheme.run(networks.alphabeta, 1, zeros).report;
  outcome.time = outcome.report.makespan().value();
  return outcome;
}

SchemeInfo with_options(const std::string& name, const NcclOptions& options) {
  SchemeInfo info = find_scheme(name);
  for (OptionInfo& option : info.options) {
    if (options.contains(option.name)) option.fallback = options.at(option.name);
  }
  return info;
}

}  // namespace

TEST_CASE("Every ring of a channel visits all ranks, node after node") {
  for (const int ranks : test::kRankCounts) {
    for (const int size : {1, 2, 3, 4, 8}) {
      const Nodes nodes = nodes_for(ranks, size);
      for (int channel = 0; channel < 9; ++channel) {
        CAPTURE(ranks);
        CAPTURE(size);
        CAPTURE(channel);
        const ChannelRing ring(nodes, channel);
        std::set<int> visited;
        int entered = 0;
        for (int position = 0; position < ranks; ++position) {
          const int rank = ring.rank_at(position);
          CHECK(ring.position_of(rank) == position);
          visited.insert(rank);
          const int before = ring.rank_at((position + ranks - 1) % ranks);
          entered += nodes.node_of(before) != nodes.node_of(rank) ? 1 : 0;
        }
        CHECK(visited.size() == static_cast<std::size_t>(ranks));
        CHECK(entered == (nodes.count > 1 ? nodes.count : 0));
      }
    }
  }
}

TEST_CASE("The channels' rings stay on rails, and use all of them in both directions") {
  const Nodes nodes = nodes_for(32, 8);
  std::multiset<int> rails;
  for (int channel = 0; channel < 8; ++channel) {
    const ChannelRing ring(nodes, channel);
    for (int position = 0; position < 32; ++position) {
      const int from = ring.rank_at(position);
      const int to = ring.rank_at((position + 1) % 32);
      if (nodes.node_of(from) == nodes.node_of(to)) continue;
      CHECK(from % 8 == to % 8);
      rails.insert(from);
    }
  }
  CHECK(rails.size() == 32);
  CHECK(std::set<int>(rails.begin(), rails.end()).size() == 32);
}

TEST_CASE("The trees of a channel are trees over all ranks") {
  for (const int ranks : test::kRankCounts) {
    for (const int size : {1, 2, 3, 4, 8}) {
      const Nodes nodes = nodes_for(ranks, size);
      for (int channel = 0; channel < 5; ++channel) {
        for (const int tree : {0, 1}) {
          CAPTURE(ranks);
          CAPTURE(size);
          CAPTURE(channel);
          CAPTURE(tree);
          int roots = 0;
          for (int rank = 0; rank < ranks; ++rank) {
            const ChannelTreePlace place = place_in_channel_tree(nodes, rank, channel, tree);
            CHECK(place.level <= channel_tree_depth(nodes));
            roots += place.parent ? 0 : 1;
            for (const int child : place.children) {
              const ChannelTreePlace below = place_in_channel_tree(nodes, child, channel, tree);
              CHECK(below.parent == rank);
              CHECK(below.level == place.level + 1);
            }
          }
          CHECK(roots == 1);
        }
      }
    }
  }
}

TEST_CASE(
    "NCCL's collectives give every rank its result whatever nodes, channels, chunks, protocol") {
  for (const int ranks : {1, 2, 3, 7, 12, 23}) {
    for (const std::int64_t node : {1, 3, 4, 8}) {
      for (const std::int64_t channels : {0, 1, 3}) {
        const NcclOptions options{{"node", node},
                                  {"channels", channels},
                                  {"chunk_words", std::int64_t{channels == 3 ? 5 : 0}},
                                  {"protocol", (node + channels) % 3},
                                  {"channel_bandwidth", node == 3 ? 0.0 : 20.0},
                                  {"bucket_words", std::int64_t{60}}};
        for (const char* name : {"nccl_ring", "nccl_tree", "dense_auto", "dense_auto_ovlp",
                                 "allgather_nccl_ring", "reduce_scatter_nccl_ring"}) {
          CAPTURE(name);
          CAPTURE(ranks);
          CAPTURE(node);
          CAPTURE(channels);
          test::Networks networks;
          const SchemeInfo info = with_options(name, options);
          CHECK(test::dense_conforms(networks.alphabeta, info, ranks, {203, 1}));
          CHECK(test::dense_conforms(networks.counting, info, ranks, {203, 4}));
          CHECK(test::dense_conforms(networks.alphabeta, info, ranks, {2, 1}));
        }
      }
    }
  }
}

TEST_CASE("NCCL's collectives take a time within their interval at random sizes and options") {
  Generator generator(17);
  for (int i = 0; i < (test::kSanitized ? 30 : 150); ++i) {
    const int ranks = 1 + static_cast<int>(below(generator, 40));
    const std::int64_t n = 1 + below(generator, std::int64_t{1} << below(generator, 22));
    const NcclOptions options{
        {"node", 1 + below(generator, 9)},
        {"channels", below(generator, 6)},
        {"chunk_words", i % 3 == 0 ? std::int64_t{0} : 1 + n / (1 + below(generator, 50))},
        {"protocol", below(generator, 4)},
        {"gpu", std::array<std::int64_t, 4>{0, 7, 8, 9}.at(below(generator, 4))},
        {"ll128", below(generator, 2) == 1},
        {"rendezvous_s", i % 4 == 0 ? 1e-5 : 0.0},
        {"channel_bandwidth", i % 2 == 0 ? 0.0 : static_cast<double>(below(generator, 40))},
        {"bucket_words", 1 + below(generator, n)}};
    for (const char* name : {"nccl_ring", "nccl_tree", "dense_auto_ovlp", "allgather_nccl_ring",
                             "reduce_scatter_nccl_ring"}) {
      if (name == std::string("dense_auto_ovlp") && n > 10000) continue;
      CAPTURE(name);
      CAPTURE(ranks);
      CAPTURE(n);
      CAPTURE(i);
      const NcclOutcome outcome = run_nccl(name, ranks, n, options);
      CHECK(outcome.time >= nccl_seconds(outcome.low) * (1 - 1e-9));
      CHECK(outcome.time <= nccl_seconds(outcome.high) * (1 + 1e-9));
    }
  }
}

TEST_CASE("The worked example of nccl_ring is right, and a ring of one channel is dense_ring") {
  const NcclOutcome outcome =
      run_nccl("nccl_ring", 8, 6400, {{"node", std::int64_t{4}}, {"channels", std::int64_t{4}}});
  CHECK(outcome.low.messages == 56);
  CHECK(outcome.low.words == 11200);
  for (const RankReport& rank : outcome.report.ranks) {
    CHECK(rank.total().messages_sent == 56);
    CHECK(rank.total().words_sent == Words(11200));
  }
  const NcclOptions one{{"channels", std::int64_t{1}}, {"node", std::int64_t{1}}};
  for (const int ranks : test::kRankCounts) {
    NcclOptions ll = one;
    ll["protocol"] = std::int64_t{0};
    const double flat = run_nccl("dense_ring", ranks, 64 * ranks, {}).time;
    const NcclOutcome simple = run_nccl("nccl_ring", ranks, 64 * ranks, one);
    // Simple takes 8.4 us, and 11.3 us more per message between nodes.
    const double steps = 2 * (ranks - 1);
    const double launched = ranks > 1 ? 1 : 0;
    CHECK(simple.time == test::approx(flat + launched * 8.4e-6 + steps * 11.3e-6));
    // LL doubles the words. It takes 6.6 us, 2.3 us for a message, and polls at 39 or 20.4 GB/s.
    const double polls = 64 * 4e-9 / (ranks > 2 ? 20.4 : 39);
    CHECK(run_nccl("nccl_ring", ranks, 64 * ranks, ll).time ==
          test::approx(launched * 6.6e-6 + formula(steps, 128 * steps) + steps * (2.3e-6 + polls)));
  }
}

TEST_CASE("The halves of NCCL's ring carry a share of each block in every channel") {
  for (const char* name : {"allgather_nccl_ring", "reduce_scatter_nccl_ring"}) {
    CAPTURE(name);
    NcclOptions options{
        {"node", std::int64_t{4}}, {"channels", std::int64_t{4}}, {"protocol", std::int64_t{2}}};
    const NcclOutcome outcome = run_nccl(name, 8, 6400, options);
    CHECK(outcome.low.messages == 28);
    for (const RankReport& rank : outcome.report.ranks) {
      CHECK(rank.total().messages_sent == 28);
      CHECK(rank.total().words_sent == Words(5600));
    }
    // Two loops of a channel send each block in two pieces.
    options["chunk_words"] = std::int64_t{100};
    CHECK(run_nccl(name, 8, 6400, options).report.ranks.front().total().messages_sent == 56);
  }
  // With one channel each is a ring of P-1 steps, and both are the allreduce, which launches once.
  const NcclOptions one{
      {"channels", std::int64_t{1}}, {"node", std::int64_t{1}}, {"protocol", std::int64_t{2}}};
  for (const int ranks : {2, 3, 8, 13}) {
    CAPTURE(ranks);
    const auto time = [&](const char* name) { return run_nccl(name, ranks, 64 * ranks, one).time; };
    const double steps = ranks - 1;
    const double half = 8.4e-6 + formula(steps, 64 * steps) + steps * 11.3e-6;
    CHECK(time("allgather_nccl_ring") == test::approx(half));
    CHECK(time("reduce_scatter_nccl_ring") == test::approx(half));
    CHECK(time("nccl_ring") == test::approx(2 * half - 8.4e-6));
  }
}

TEST_CASE("A ring whose pieces differ takes the longest piece in each step") {
  // 3 words on 8 ranks are pieces of 1 and 0 words, 63 words pieces of 8 and 7; LL doubles them. A
  // message of a channel waits for the one before, so a short one cannot share its port with it.
  for (const auto& [words, longest] : {std::pair{3, 1}, std::pair{63, 8}}) {
    for (const double alpha : {1e-8, 3.8e-8, 7.6e-8, 1e-6}) {
      CAPTURE(words);
      CAPTURE(alpha);
      networks::AlphaBetaNetwork network{networks::alpha_beta(Seconds(alpha), Seconds(1.9e-8))};
      SchemeRanks scheme(find_scheme("nccl_ring"), 8, {.components = words, .granule = 1}, 0,
                         {{"protocol", std::int64_t{0}}});
      const auto zeros = [words = words](int) {
        return DenseBlock(0, std::vector<float>(static_cast<std::size_t>(words)));
      };
      const Seconds time = scheme.run(network, 1, zeros).report.makespan();
      const double step = alpha + 2 * longest * 1.9e-8;
      CHECK(time.value() ==
            test::approx(6.6e-6 + 14 * (step + 0.13e-6 + longest * 8 * 4e-9 / 141)));
    }
  }
}

TEST_CASE("A channel of a tree carries as much as its thread blocks reach, and fewer are spread") {
  // On a chain of 8 ranks without latencies to speak of, the busbw is the channels' bandwidth.
  const std::int64_t n = std::int64_t{1} << 24;
  for (const std::int64_t channels : {1, 4}) {
    CAPTURE(channels);
    const NcclOptions options{{"node", std::int64_t{8}},
                              {"channels", channels},
                              {"chunk_words", std::int64_t{8192}},
                              {"channel_bandwidth", 0.02}};
    const double bytes = 4 * static_cast<double>(n);
    const double busbw = 2 * bytes / run_nccl("nccl_tree", 8, n, options).time / 1e9;
    // Each half of a channel's share is n / (2 channels 8192) chunks, up and down 7 steps.
    const double chunks = static_cast<double>(n) / static_cast<double>(2 * channels * 8192);
    const double filled = chunks / (chunks + 2 * 7);
    CHECK(busbw == test::approx(0.02 * static_cast<double>(channels) * filled).epsilon(0.01));
  }
  const Nodes nodes = nodes_for(16, 8);
  CHECK(entry_of(1, 4, nodes) == 2);
  CHECK(entry_of(2, 3, nodes) == 5);
  CHECK(entry_of(3, 8, nodes) == 3);
  CHECK(entry_of(11, 16, nodes) == 3);
}

TEST_CASE("Short gradients take fewer channels") {
  const auto messages = [](std::int64_t n, std::int64_t protocol) {
    const NcclOutcome outcome = run_nccl("nccl_ring", 16, n, {{"protocol", protocol}});
    return outcome.report.ranks.front().total().messages_sent / 30;
  };
  CHECK(messages(1000, 2) == 1);
  CHECK(messages(3 * 8192, 2) == 3);  // 32 KiB each
  CHECK(messages(1 << 20, 2) == 8);
  CHECK(messages(3 * 1024, 1) == 3);
  CHECK(messages(3 * 1024, 0) == 1);
  CHECK(messages(3 * 16384, 0) == 3);  // 4 KiB of each of 16 ranks
}

TEST_CASE("The tuner takes what its table says") {
  // 8 nodes of 8, channels of 50 GB/s: 8 times that between nodes.
  const Nodes nodes = nodes_for(64, 8);
  NcclFacts facts{.channels = 8, .beta = Seconds(1 / 50e9)};
  constexpr std::array kBoth{NcclAlgorithm::tree, NcclAlgorithm::ring};
  const auto choice = [&](std::int64_t bytes) { return nccl_choice(bytes, nodes, facts, kBoth); };
  // Tree, LL: 6.8 + 2 (7 x 0.6 + 3 x 5.0) = 45.2 us, and the bytes at 20.4 GB/s of the bus.
  const NcclChoice small = choice(1024);
  CHECK(small.algorithm == NcclAlgorithm::tree);
  CHECK(small.protocol == NcclProtocol::ll);
  CHECK(small.time.value() == test::approx(45.2e-6 + 1024 / (20.4e9 * 0.5 * 0.9)).epsilon(1e-9));
  // Ring, Simple: 1.4 (8.4 + 112 x 3.4 + 14 x 14) us at these sizes, and 126/64 of the bytes.
  const NcclChoice large = choice(std::int64_t{1} << 32);
  CHECK(large.algorithm == NcclAlgorithm::ring);
  CHECK(large.protocol == NcclProtocol::simple);
  CHECK(large.time.value() ==
        test::approx(1.4 * 585.2e-6 + 4294967296.0 * 126 / 64 / 400e9).epsilon(1e-9));
  // Of rings alone: Ring, LL: 6.6 + 112 x 1 + 14 x 2.7 = 156.4 us.
  const NcclChoice ring = nccl_choice(1024, nodes, facts, std::array{NcclAlgorithm::ring});
  CHECK(ring.protocol == NcclProtocol::ll);
  CHECK(ring.time.value() == test::approx(156.4e-6 + 1024 / (20.4e9 * 64 / 126)).epsilon(1e-9));
  // An allgather goes around once: 6.6 + 56 x 1 + 7 x 2.7 = 81.5 us, and 63/64 of the bytes.
  const NcclChoice gather =
      nccl_choice(1024, nodes, facts, std::array{NcclAlgorithm::ring}, Collective::allgather);
  CHECK(gather.protocol == NcclProtocol::ll);
  CHECK(gather.time.value() == test::approx(81.5e-6 + 1024 / (20.4e9 * 64 / 63)).epsilon(1e-9));
  // Without LL128, what it would have taken is LL's or Simple's.
  CHECK(choice(1 << 22).protocol == NcclProtocol::ll128);
  facts.ll128 = false;
  for (int log = 3; log < 34; ++log) {
    CHECK(choice(std::int64_t{1} << log).protocol != NcclProtocol::ll128);
  }
  facts.ll128 = true;
  // Thread blocks of A100 have at most 8 x 17.8 GB/s of trees.
  facts.gpu = 8;
  const NcclChoice tree =
      nccl_choice(std::int64_t{1} << 32, nodes, facts, std::array{NcclAlgorithm::tree});
  CHECK(tree.time.value() == test::approx(90.2e-6 + 4294967296.0 * 2 / (8 * 17.8e9)).epsilon(0.01));
  // On two nodes, trees have the bandwidth inside them, 8 x 41.4 GB/s of H100, and rings the NICs'.
  facts = {.channels = 8, .beta = Seconds(1 / 25e9), .gpu = 9};
  const NcclChoice two = nccl_choice(1 << 30, nodes_for(16, 8), facts, kBoth);
  CHECK(two.algorithm == NcclAlgorithm::tree);
  CHECK(two.time.value() == test::approx(92.4e-6 + 1073741824.0 * 2 / (8 * 41.4e9)).epsilon(0.01));
  facts = {.channels = 8, .beta = Seconds(1 / 50e9)};
  // Every size has one; it never expects less time for more bytes by more than the corrections.
  for (int log = 3; log < 34; ++log) CHECK(choice(std::int64_t{1} << log).time > Seconds(0));
}

TEST_CASE("dense_auto runs what the tuner takes, and names its phase after it") {
  for (const int ranks : {2, 12, 64}) {
    for (const std::int64_t n : {1, 1000, 1000000}) {
      CAPTURE(ranks);
      CAPTURE(n);
      const NcclOutcome automatic = run_nccl("dense_auto", ranks, n, {});
      REQUIRE(automatic.report.phases.size() >= 1);
      const std::string phase = automatic.report.phases.back();
      const std::string name = "nccl_" + phase.substr(0, 4);
      const std::string protocol = phase.substr(5);
      const std::int64_t number = protocol == "ll" ? 0 : protocol == "ll128" ? 1 : 2;
      const NcclOutcome chosen = run_nccl(name, ranks, n, {{"protocol", number}});
      CHECK(automatic.time == chosen.time);
      CHECK(automatic.low.words == chosen.low.words);
    }
  }
}

TEST_CASE("dense_auto_ovlp costs one dense_auto per bucket, one after another") {
  for (const int ranks : {2, 12}) {
    CAPTURE(ranks);
    const double one = run_nccl("dense_auto", ranks, 9600, {}).time;
    const double all =
        run_nccl("dense_auto_ovlp", ranks, 3 * 9600, {{"bucket_words", std::int64_t{9600}}}).time;
    CHECK(run_nccl("dense_auto_ovlp", ranks, 9600, {}).time == one);
    CHECK(all <= 3 * one * 1.01);
    CHECK(all > 2 * one);
  }
}

}  // namespace thinwire::algorithms
