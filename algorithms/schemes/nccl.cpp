#include "algorithms/schemes/nccl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "algorithms/collectives/channels.hpp"
#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/dense_ovlp.hpp"
#include "algorithms/schemes/in_network.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kChannels = "channels";
constexpr const char* kProtocol = "protocol";
constexpr const char* kChunkWords = "chunk_words";
constexpr const char* kChannelBandwidth = "channel_bandwidth";
constexpr const char* kLl128 = "ll128";
constexpr const char* kGpu = "gpu";
constexpr const char* kRendezvous = "rendezvous_s";
constexpr double kMicro = 1e-6;
constexpr std::array kAlgorithms{NcclAlgorithm::tree, NcclAlgorithm::ring};
constexpr std::array kProtocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};

/// A figure for each algorithm (tree, ring) and protocol (LL, LL128, Simple).
using NcclTable = std::array<std::array<double, 3>, 2>;
double of(const NcclTable& table, NcclAlgorithm algorithm, NcclProtocol protocol) {
  return table.at(static_cast<std::size_t>(algorithm)).at(static_cast<std::size_t>(protocol));
}

// Latencies in µs (NCCL 2.29, tuning.cc: baseLatencies, and hwLatencies of NVLINK and NET).
constexpr NcclTable kBase{{{6.8, 14, 8.4}, {6.6, 14, 8.4}}};
constexpr NcclTable kInNode{{{0.6, 1.25, 4}, {0.6, 1.9, 3.4}}};
constexpr NcclTable kBetweenNodes{{{5, 8.5, 14}, {2.7, 4, 14}}};
// The proxy thread's work for a message of a ring between nodes (getNetOverhead): each step takes at
// least this time, and with Simple 3 times as much.
constexpr double kNetOverhead = 1;
// A message of the network with LL, as the platforms have it: 2 x 85 ns and a gap of 0.3 µs, and
// kBetweenNodes of a ring.
constexpr double kNetworkInNode = 0.47;
// What of a tree's bandwidth is there at 64 bytes, 128 bytes ... 256 MiB (treeCorrectionFactor).
constexpr std::array<std::array<double, 23>, 3> kTreeCorrection{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};
// Most GB/s of a channel's trees on 1, 2 and more nodes (perChMaxTreeBws of V100, A100, H100).
constexpr std::array<std::array<double, 3>, 3> kMostOfTrees{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}}};
// The same with LL128 (perChMaxRingLL128Bws, and perChMaxTreeLL128Bws but for H100's trees, 29 on more
// than two nodes).
constexpr std::array<double, 3> kMostOfLl128{20, 20, 36.7};
// Most GB/s that LL reaches on a node (V100, A100, H100), on 2 and on more (llMaxBws, Intel's CPUs).
constexpr std::array<double, 3> kMostOfLlOnANode{39, 87.7, 141};
constexpr std::array<double, 2> kMostOfLlBetween{39, 20.4};
constexpr int kFirstGpu = 7;  // V100's compute capability
constexpr int kLastGpu = 9;   // H100's

std::size_t index_of_gpu(int gpu) { return static_cast<std::size_t>(gpu - kFirstGpu); }
std::size_t index_of_nodes(Nodes nodes) {
  return static_cast<std::size_t>(std::min(nodes.count, 3) - 1);
}

double most_of_ll(Nodes nodes, int gpu) {
  if (nodes.count > 1) return kMostOfLlBetween.at(index_of_nodes(nodes) - 1);
  return kMostOfLlOnANode.at(index_of_gpu(gpu == 0 ? kLastGpu : gpu));
}

/// The most GB/s of the bus that the thread blocks of a channel reach, as the tuner has it.
double most_of_channel(NcclAlgorithm algorithm, NcclProtocol protocol, Nodes nodes, int gpu) {
  double most = std::numeric_limits<double>::infinity();
  if (gpu == 0) return most;
  const std::size_t of_gpu = index_of_gpu(gpu);
  if (algorithm == NcclAlgorithm::tree) most = kMostOfTrees.at(of_gpu).at(index_of_nodes(nodes));
  if (protocol == NcclProtocol::ll128) most = std::min(most, kMostOfLl128.at(of_gpu));
  return most;
}

/// The latency of a step inside a node, in µs. In a ring over several nodes the slowest part of a
/// channel, the proxy thread between nodes, sets the pace.
double in_node_latency(NcclAlgorithm algorithm, NcclProtocol protocol, Nodes nodes) {
  const double latency = of(kInNode, algorithm, protocol);
  if (algorithm == NcclAlgorithm::tree || nodes.count == 1) return latency;
  return std::max(latency, protocol == NcclProtocol::simple ? 3 * kNetOverhead : kNetOverhead);
}

/// The latency of a step between nodes, in µs. With a rank a node nothing hides it.
double between_nodes_latency(NcclAlgorithm algorithm, NcclProtocol protocol, Nodes nodes) {
  const bool alone = nodes.ranks == nodes.count;
  return of(kBetweenNodes, alone ? NcclAlgorithm::tree : algorithm, protocol);
}

/// The bandwidth of the bus in GB/s that the tuner expects.
double tuner_bandwidth(NcclAlgorithm algorithm, NcclProtocol protocol, Nodes nodes,
                       const NcclFacts& facts) {
  const bool tree = algorithm == NcclAlgorithm::tree;
  // In one node every channel goes through the port of every rank.
  const int ports = nodes.count > 1 ? facts.channels : 1;
  double bus = ports / facts.beta.value() * 1e-9;
  const double most = most_of_channel(algorithm, protocol, nodes, facts.gpu) * facts.channels;
  if (tree) {
    // On two nodes it takes the bandwidth inside them, at most twice the bandwidth between them (search.cc).
    if (facts.gpu > 0 && nodes.count == 2) bus *= 2;
    bus *= 0.92;
  }
  switch (protocol) {
    case NcclProtocol::ll:
      return std::min(std::min(bus, most) / (tree ? 3.8 : 2), most_of_ll(nodes, facts.gpu));
    case NcclProtocol::ll128:
      if (!tree) return std::min(bus * 0.92, most);
      return std::min(bus * (nodes.count == 1 ? 7.0 / 9 : 120.0 / 128), most);
    case NcclProtocol::simple:
      break;
  }
  return std::min(bus, most);
}

Seconds tuner_time(NcclAlgorithm algorithm, NcclProtocol protocol, std::int64_t bytes, Nodes nodes,
                   const NcclFacts& facts, Collective collective) {
  const bool tree = algorithm == NcclAlgorithm::tree;
  const bool simple = protocol == NcclProtocol::simple;
  const double in_node = in_node_latency(algorithm, protocol, nodes);
  const double between = between_nodes_latency(algorithm, protocol, nodes);
  const double ways = collective == Collective::allreduce ? 2 : 1;  // around a ring
  const double steps = ways * (nodes.ranks - 1);
  const auto length = static_cast<double>(bytes);
  double bandwidth = tuner_bandwidth(algorithm, protocol, nodes, facts);
  double latency = of(kBase, algorithm, protocol);
  if (tree) {
    const int depth = static_cast<int>(std::bit_width(static_cast<unsigned>(nodes.count))) - 1;
    const int of_node = nodes.ranks / nodes.count;
    latency += 2 * ((of_node - 1) * in_node + depth * between);
    bandwidth *= 0.5;
    const auto log =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes >> 6) | 1) - 1);
    const auto& correction = kTreeCorrection.at(static_cast<std::size_t>(protocol));
    if (log < correction.size()) bandwidth *= correction.at(log);
  } else {
    const double between_steps = ways * (nodes.count - 1);
    latency += (steps - between_steps) * in_node + between_steps * between;
    const bool plateau =
        simple && ways > 1 && nodes.count > 1 && length >= 64.0 * facts.channels * nodes.ranks;
    if (plateau) latency *= 1.4;
    bandwidth *= nodes.ranks / steps;
  }
  return Seconds(kMicro * latency + 1e-9 * length / bandwidth);
}

LineFormat line_format_of(NcclChoice choice, Nodes nodes, const NcclFacts& facts) {
  const auto [algorithm, protocol, time] = choice;
  const double network = of(kBetweenNodes, NcclAlgorithm::ring, NcclProtocol::ll);
  LineFormat format{
      .launch = Seconds(kMicro * of(kBase, algorithm, protocol)),
      .in_node = Seconds(kMicro * (in_node_latency(algorithm, protocol, nodes) - kNetworkInNode)),
      .between_nodes =
          Seconds(kMicro * (between_nodes_latency(algorithm, protocol, nodes) - network))};
  if (protocol == NcclProtocol::ll) {
    format.line = 2;
    format.per_word = Seconds(4e-9 * facts.channels / most_of_ll(nodes, facts.gpu));
  }
  if (protocol == NcclProtocol::ll128) {
    format.line = 16;
    format.data = 15;
  }
  // A thread block passes a piece on, a slot of NCCL's buffers at a time (NCCL_BUFFSIZE of 4 MiB in 8
  // slots).
  if (protocol != NcclProtocol::ll && facts.gpu > 0) {
    constexpr std::int64_t kSlotWords = std::int64_t{1} << 17;
    format.per_word = Seconds(4e-9 / kMostOfLl128.at(index_of_gpu(facts.gpu)));
    format.slot = kSlotWords;
  }
  return format;
}

constexpr int kMostChannels = 32;  // NCCL's MAXCHANNELS

/// The channels that NCCL makes: as many as there are ranks on a node. On one node twice as many as
/// carry the bandwidth of a port, if the GPU's rate is known (search.cc, ncclTopoDupChannels).
int channels_of(Nodes nodes, Seconds beta, int gpu) {
  int channels = nodes.size;
  if (nodes.count == 1 && gpu > 0) {
    const double port = 1e-9 / beta.value();
    const double needed = std::ceil(port / kMostOfLl128.at(index_of_gpu(gpu)));
    channels = static_cast<int>(std::clamp(2 * needed, 1.0 * channels, 1.0 * kMostChannels));
  }
  return std::min(channels, kMostChannels);
}

/// The channels that an allreduce of `bytes` bytes takes if the user does not say: all, as long as
/// each of the 512 threads of a channel has enough to do.
int channels_for(NcclChoice choice, Nodes nodes, std::int64_t bytes, int all) {
  constexpr std::int64_t kThreads = 512;
  constexpr std::array<std::int64_t, 3> kBytesOfThread{8, 8, 64};
  std::int64_t least = kThreads * kBytesOfThread.at(static_cast<std::size_t>(choice.protocol));
  const bool ring = choice.algorithm == NcclAlgorithm::ring;
  if (ring && choice.protocol == NcclProtocol::ll) least *= nodes.ranks;
  return static_cast<int>(std::clamp<std::int64_t>(bytes / least, 1, all));
}

/// A collective of NCCL, with all that its options leave open.
struct NcclPlan {
  NcclChoice choice = {};
  Nodes nodes;
  int channels = 1;
  int parts = 1;  ///< loops of a ring, or chunks of each half of a channel's share
  LineFormat format = {};
  Seconds per_word = {};  ///< of a thread block, in trees
};

enum class NcclKind : std::uint8_t { ring, tree, automatic, allgather, reduce_scatter };

Collective collective_of(NcclKind kind) {
  if (kind == NcclKind::allgather) return Collective::allgather;
  return kind == NcclKind::reduce_scatter ? Collective::reduce_scatter : Collective::allreduce;
}

/// The plan for a gradient of `words` words.
NcclPlan plan_of(NcclKind kind, const Options& options, int ranks, std::int64_t words,
                 int known_node, Seconds beta_per_word) {
  NcclPlan plan{.nodes = nodes_of(options, ranks, known_node)};
  const auto given = static_cast<int>(options.integer(kChannels));
  const Seconds beta = beta_per_word * 0.25;
  const auto gpu = static_cast<int>(options.integer(kGpu));
  const NcclFacts facts{.channels = given > 0 ? given : channels_of(plan.nodes, beta, gpu),
                        .beta = beta,
                        .gpu = gpu,
                        .ll128 = options.flag(kLl128) || plan.nodes.count == 1};
  const auto best_of = [&](std::span<const NcclAlgorithm> algorithms) {
    return nccl_choice(4 * words, plan.nodes, facts, algorithms, collective_of(kind));
  };
  if (kind == NcclKind::automatic) {
    plan.choice = best_of(kAlgorithms);
  } else {
    const std::array algorithm{kind == NcclKind::tree ? NcclAlgorithm::tree : NcclAlgorithm::ring};
    const auto protocol = static_cast<std::size_t>(options.integer(kProtocol));
    plan.choice = protocol < kProtocols.size()
                      ? NcclChoice{algorithm.front(), kProtocols.at(protocol)}
                      : best_of(algorithm);
  }
  plan.channels =
      given > 0 ? given : channels_for(plan.choice, plan.nodes, 4 * words, facts.channels);
  const std::int64_t chunk_words = options.integer(kChunkWords);
  constexpr std::int64_t kRingChunk = std::int64_t{1} << 19;
  if (plan.choice.algorithm == NcclAlgorithm::ring) {
    plan.parts =
        ring_loops(words, ranks, plan.channels, chunk_words == 0 ? kRingChunk : chunk_words);
  } else {
    plan.parts = tree_chunks(words, channel_tree_depth(plan.nodes), plan.channels, chunk_words);
  }
  plan.format = line_format_of(plan.choice, plan.nodes, facts);
  plan.format.rendezvous = Seconds(options.number(kRendezvous));
  if (kind == NcclKind::tree) {
    // A channel's share goes up and down, a half of it in each of its two trees.
    constexpr double kBytesOfWordBothWaysInHalves = 4 * 2 * 2;
    const double bandwidth = options.number(kChannelBandwidth);
    if (bandwidth > 0) plan.per_word = Seconds(kBytesOfWordBothWaysInHalves / (1e9 * bandwidth));
  }
  return plan;
}

std::string phase_of(const NcclChoice& choice) {
  constexpr std::array kEndings{"_ll", "_ll128", "_simple"};
  const std::string algorithm = choice.algorithm == NcclAlgorithm::ring ? "ring" : "tree";
  return algorithm + kEndings.at(static_cast<std::size_t>(choice.protocol));
}

Task<Message> allreduce_by(const NcclPlan& plan, Communicator& comm, Message mine,
                           const Reduction& reduction) {
  if (plan.choice.algorithm == NcclAlgorithm::ring) {
    return allreduce_channel_rings(comm, plan.nodes, std::move(mine), reduction, plan.channels,
                                   plan.parts, plan.format);
  }
  return allreduce_channel_trees(comm, plan.nodes, std::move(mine), reduction, plan.channels,
                                 plan.parts, plan.format, plan.per_word);
}

/// The options of dense_in_network in place of an allreduce of NCCL.
Options options_in_switches(const NcclPlan& plan) {
  return {in_network_scheme().options, {{kNodeOption, std::int64_t{plan.nodes.size}}}};
}

SchemeSetup setup_in_switches(SchemeSetup setup, const NcclPlan& plan) {
  setup.options = options_in_switches(plan);
  return setup;
}

/// Whether NCCL's tuner takes sums in switches (NVLS) rather than the plan. Nodes must be known.
bool takes_switches(NcclKind kind, const NcclPlan& plan, const Options& options, int known_node,
                    const ReducingSwitches& switches, std::int64_t words, Seconds beta_per_word) {
  const bool known = known_node > 0 || options.integer(kNodeOption) > 0;
  return kind == NcclKind::automatic && known && plan.nodes.ranks > 1 &&
         in_network_tuner_time(switches, plan.nodes, words, beta_per_word) < plan.choice.time;
}

class Nccl final : public Scheme {
 public:
  Nccl(const SchemeSetup& setup, NcclKind kind)
      : space_(setup.space),
        reduction_(*setup.shared, setup.gamma, setup.space),
        plan_(plan_of(kind, setup.options, setup.ranks,
                      setup.space.value_words(setup.space.components).value(), setup.node,
                      setup.beta_per_word)),
        phase_(phase_of(plan_.choice)) {
    const std::int64_t words = setup.space.value_words(setup.space.components).value();
    if (!takes_switches(kind, plan_, setup.options, setup.node, setup.switches, words,
                        setup.beta_per_word)) {
      return;
    }
    in_switches_setup_ = std::make_unique<SchemeSetup>(setup_in_switches(setup, plan_));
    in_switches_ = in_network_scheme().make(*in_switches_setup_);
  }

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    if (in_switches_) {
      Task<Reduced> task = in_switches_->allreduce(comm, std::move(gradient), iteration);
      co_return co_await std::move(task);
    }
    const auto phase = comm.phase(phase_);
    Message mine = message_of(gradient, space_);
    gradient = {};
    const Message total = co_await allreduce_by(plan_, comm, std::move(mine), reduction_);
    co_return Reduced{.sum = stream_from(total.payload), .contributed = {}};
  }

 private:
  GradientSpace space_;
  GradientReduction reduction_;
  NcclPlan plan_;
  std::string phase_;
  std::unique_ptr<SchemeSetup> in_switches_setup_;  // outlives the scheme, which refers to it
  std::unique_ptr<Scheme> in_switches_;             // null: the plan's rings or trees
};

/// The terms of `messages` messages of a piece of `piece` words.
Terms messages_of(const NcclPlan& plan, double messages, std::int64_t piece) {
  return {messages, messages * static_cast<double>(plan.format.wire(Words(piece)).value()), 0};
}

/// That the protocol takes for a message of `piece` words.
double longest_delay(const NcclPlan& plan, std::int64_t piece) {
  const LineFormat& format = plan.format;
  const Seconds step =
      plan.nodes.count > 1 ? std::max(format.in_node, format.between_nodes) : format.in_node;
  // A short message fills its last line.
  const auto wire = static_cast<double>(format.wire(Words(piece)).value());
  return (step + format.handling(wire * format.data / format.line) + format.rendezvous).value();
}

Interval ring_interval(const NcclPlan& plan, Collective collective, std::int64_t n) {
  const double p = plan.nodes.ranks;
  const std::int64_t pieces = std::int64_t{plan.channels} * plan.parts * plan.nodes.ranks;
  // Exchanges of each channel, and those that sum.
  const double around = (p - 1) * plan.parts;
  const double turns = collective == Collective::allreduce ? 2 * around : around;
  const double sums = collective == Collective::allgather ? 0 : around;
  const std::int64_t shortest = n / pieces;
  const std::int64_t longest = (n + pieces - 1) / pieces;
  Interval run{messages_of(plan, turns * plan.channels, shortest),
               messages_of(plan, turns * plan.channels, longest)};
  run.high.reduced = sums * plan.channels * static_cast<double>(longest);
  // With one channel, each exchange waits for the one before.
  const double least = std::min(plan.format.in_node, plan.format.between_nodes).value();
  if (plan.channels == 1) {
    run.low.reduced = sums * static_cast<double>(shortest);
    run.low.seconds = turns * (plan.nodes.count > 1 ? least : plan.format.in_node.value());
  }
  run.low.seconds += plan.format.launch.value();
  run.high.seconds = plan.format.launch.value() + turns * longest_delay(plan, longest);
  // Messages that come out of step wait for at most one of each channel. Without a clock (the
  // network `counting`) messages of several channels come in no order, and wait for up to as many again.
  if (plan.channels > 1) run.high.messages += turns * plan.channels;
  if (plan.channels > 1 || n % pieces != 0) {
    run.high = run.high + messages_of(plan, plan.channels, longest);
  }
  return run;
}

Interval tree_interval(const NcclPlan& plan, std::int64_t n) {
  const double p = plan.nodes.ranks;
  const int trees = 2 * plan.channels;
  const std::int64_t pieces = std::int64_t{trees} * plan.parts;
  const double depth = channel_tree_depth(plan.nodes);
  // All edges of all trees carry every chunk up and down, and the ports share them.
  const double mean = 2 * (p - 1) / p * static_cast<double>(pieces);
  // The first chunk goes up and down one of the trees.
  const int between = static_cast<int>(std::bit_width(static_cast<unsigned>(plan.nodes.count))) - 1;
  const int least_depth = between + plan.nodes.rails() - 1;
  const double low = std::max(mean, static_cast<double>(2 * least_depth + plan.parts - 1));
  // A rank has at most three children and a parent in a tree, one child and a parent in most.
  const double busiest = std::min(p, 4.0) * trees;
  const double rounds = plan.parts + 2 * depth;
  const std::int64_t longest = (n + pieces - 1) / pieces;
  Interval run{messages_of(plan, low, n / pieces), messages_of(plan, rounds * busiest, longest)};
  run.high.reduced = 3 * static_cast<double>(n) + 3 * rounds * static_cast<double>(longest) * trees;
  const Seconds handling = plan.per_word * static_cast<double>(longest);
  run.low.seconds = plan.format.launch.value();
  run.high.seconds =
      plan.format.launch.value() + rounds * (longest_delay(plan, longest) + 2 * handling.value());
  return run;
}

Cost nccl_cost(const CostInput& in, NcclKind kind) {
  if (in.ranks == 1) return {.paper = {}, .counted = {}, .added = {}, .exact = true};
  const NcclPlan plan =
      plan_of(kind, *in.options, in.ranks, in.dense_words(), in.node, in.beta_per_word);
  if (takes_switches(kind, plan, *in.options, in.node, in.switches, in.dense_words(),
                     in.beta_per_word)) {
    const Options options = options_in_switches(plan);
    CostInput same_run = in;
    same_run.options = &options;
    return in_network_scheme().run_cost(same_run);
  }
  const bool ring = plan.choice.algorithm == NcclAlgorithm::ring;
  const Collective collective = collective_of(kind);
  const Interval run = ring ? ring_interval(plan, collective, in.n) : tree_interval(plan, in.n);
  const auto n = static_cast<double>(in.n);
  const double p = in.ranks;
  const double ways = collective == Collective::allreduce ? 2 : 1;
  const double words = ring ? ways * n * (p - 1) / p : 2 * n;
  const auto added = [&](const Terms& end) { return Terms{0, end.words - words, 0, end.seconds}; };
  return {.paper = {},
          .counted = {{run.low.messages, words, run.low.reduced},
                      {run.high.messages, words, run.high.reduced}},
          .added = {added(run.low), added(run.high)},
          .exact = false};
}

/// The chunks that go through the trees; nothing if NCCL takes rings, or switches.
std::optional<Pipeline> nccl_pipeline(const CostInput& in, NcclKind kind) {
  const std::int64_t words = in.dense_words();
  const NcclPlan plan = plan_of(kind, *in.options, in.ranks, words, in.node, in.beta_per_word);
  if (plan.choice.algorithm == NcclAlgorithm::ring ||
      takes_switches(kind, plan, *in.options, in.node, in.switches, words, in.beta_per_word)) {
    return std::nullopt;
  }
  const std::int64_t trees = 2 * std::int64_t{plan.channels};
  const std::int64_t half = (words + trees - 1) / trees;
  Pipeline pipeline{.chunks = plan.parts,
                    .long_chunks = static_cast<double>(plan.parts),
                    .scheme = "nccl_tree",
                    .options = in.options->all()};
  pipeline.options[kNodeOption] = std::int64_t{plan.nodes.size};
  pipeline.options[kChannels] = std::int64_t{plan.channels};
  pipeline.options[kChunkWords] = (half + plan.parts - 1) / plan.parts;
  pipeline.options[kGpu] = in.options->integer(kGpu);
  pipeline.options[kRendezvous] = in.options->number(kRendezvous);
  pipeline.options[kProtocol] =
      std::int64_t{std::ranges::find(kProtocols, plan.choice.protocol) - kProtocols.begin()};
  return pipeline;
}

OptionInfo channels_option() {
  return {kChannels, std::int64_t{0},
          0,         "channels; 0: as NCCL makes them, and fewer for short gradients",
          {},        64};
}

OptionInfo ll128_option() {
  return {kLl128, true, 0,
          "the tuner may take LL128 between nodes; NCCL does only where no CPU lies between GPU "
          "and NIC"};
}

OptionInfo gpu_option() {
  return {kGpu,
          std::int64_t{0},
          0,
          "whose rates the tuner takes, by compute capability: 7 (V100), 8 (A100), 9 (H100); 0: "
          "H100's of LL, "
          "and no limit of thread blocks",
          {0, kFirstGpu, 8, kLastGpu}};
}

OptionInfo rendezvous_option() {
  return {kRendezvous, 0.0, 0,
          "seconds more that a message beyond 2 KiB takes between nodes, where the network library "
          "asks the receiver first, as libfabric on Slingshot"};
}

OptionInfo chunk_option() {
  return {kChunkWords, std::int64_t{0}, 0,
          "most words of a chunk; 0: 524288 in rings, 131072 or less in trees"};
}

/// The allreduce of buckets by what NCCL's tuner takes for the size of each.
BucketAllreduce auto_allreduce(const SchemeSetup& setup) {
  return
      [options = setup.options, ranks = setup.ranks, node = setup.node, beta = setup.beta_per_word](
          Communicator& strand, Message mine, const Reduction& reduction) {
        const NcclPlan plan =
            plan_of(NcclKind::automatic, options, ranks, mine.words.value(), node, beta);
        return allreduce_by(plan, strand, std::move(mine), reduction);
      };
}

/// What the cost of one bucket of a run depends on.
CostInput of_bucket(const CostInput& in, const DenseBuckets& buckets, std::int64_t bucket) {
  CostInput of = in;
  of.switches = {};  // buckets take rings and trees
  of.n = buckets.components(bucket).length();
  return of;
}

Cost auto_ovlp_cost(const CostInput& in) {
  const DenseBuckets buckets = dense_buckets(in.space(), *in.options);
  Cost all{.paper = {}, .counted = {}, .added = {}, .exact = in.ranks == 1};
  const auto add = [&](std::int64_t bucket, double times) {
    const Cost cost = nccl_cost(of_bucket(in, buckets, bucket), NcclKind::automatic);
    all.counted = {all.counted.low + times * cost.counted.low,
                   all.counted.high + times * cost.counted.high};
    all.added = {all.added.low + times * cost.added.low, all.added.high + times * cost.added.high};
  };
  // All buckets except the last have the same length.
  if (buckets.count() > 1) add(0, static_cast<double>(buckets.count() - 1));
  add(buckets.count() - 1, 1);
  return all;
}

/// The chunks of all buckets; nothing if the last one, which may be shorter, takes another way than
/// the others, or if they do not fill the trees.
std::optional<Pipeline> auto_ovlp_pipeline(const CostInput& in) {
  const DenseBuckets buckets = dense_buckets(in.space(), *in.options);
  const auto pipeline_of = [&](std::int64_t bucket) {
    return nccl_pipeline(of_bucket(in, buckets, bucket), NcclKind::automatic);
  };
  std::optional<Pipeline> all = pipeline_of(0);
  std::optional<Pipeline> last = pipeline_of(buckets.count() - 1);
  if (!all || !last) return std::nullopt;
  // A bucket of few chunks is through before the trees are full.
  const Nodes nodes = nodes_of(*in.options, in.ranks, in.node);
  if (all->chunks < 2 * std::int64_t{channel_tree_depth(nodes)}) return std::nullopt;
  const auto words = [](const Pipeline& of) {
    return std::get<std::int64_t>(of.options.at(kChunkWords));
  };
  const double longer = static_cast<double>(words(*last)) / static_cast<double>(words(*all));
  last->options[kChunkWords] = words(*all);
  if (last->options != all->options) return std::nullopt;
  all->options.erase(bucket_option().name);
  all->options.erase(bucket_bits_option().name);
  all->chunks = (buckets.count() - 1) * all->chunks + last->chunks;
  all->long_chunks =
      static_cast<double>(buckets.count() - 1) * all->long_chunks + last->long_chunks * longer;
  all->fills = buckets.count();
  all->own_phases = false;
  return all;
}

SchemeInfo auto_ovlp_entry(PaperCost paper) {
  const std::string buckets = "ceil(n/bucket_words) ";
  paper.ours = true;
  paper.latency = buckets + paper.latency;
  paper.latency_high = buckets + paper.latency_high;
  return {
      .name = "dense_auto_ovlp",
      .summary =
          "bucket after bucket from the gradient's end, each by dense_auto (PyTorch DDP on NCCL)",
      .source = "Li et al., PyTorch Distributed (VLDB 2020); NVIDIA NCCL, tuning.cc",
      .paper = std::move(paper),
      .exact_when = "P = 1",
      .added = "one message per channel, loop or chunk; flags; filling; the protocol's latency",
      .dense = true,
      .independent_iterations = true,
      .stand_ins = {.pipeline = auto_ovlp_pipeline},
      .options = {bucket_option(), bucket_bits_option(), node_option(), channels_option(),
                  chunk_option(), ll128_option(), gpu_option(), rendezvous_option()},
      .run_cost = auto_ovlp_cost,
      .make = [](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
        return dense_in_buckets(setup, auto_allreduce(setup));
      }};
}

std::function<std::optional<Pipeline>(const CostInput&)> pipeline_of(NcclKind kind) {
  if (kind == NcclKind::ring) return {};
  return [kind](const CostInput& in) { return nccl_pipeline(in, kind); };
}

OptionInfo protocol_option(std::int64_t otherwise) {
  return {kProtocol,
          otherwise,
          0,
          "0: LL, 1: LL128, 2: Simple, 3: as NCCL's tuner takes",
          {0, 1, 2, 3}};
}

SchemeInfo nccl_entry(std::string name, std::string summary, std::string source, PaperCost paper,
                      NcclKind kind) {
  paper.ours = true;
  std::vector<OptionInfo> options{node_option(),  channels_option(), chunk_option(),
                                  ll128_option(), gpu_option(),      rendezvous_option()};
  if (kind != NcclKind::automatic) {
    options.push_back(protocol_option(2));
  }
  if (kind == NcclKind::tree) {
    options.push_back(
        {kChannelBandwidth, 0.0, 0,
         "most GB/s of busbw that a channel's thread blocks reach; 0: no limit. NCCL's "
         "tuner: 38.7, 41.4, 36 on 1, 2 and more nodes of H100, 24, 23.6, 17.8 of A100"});
  }
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = std::move(source),
          .paper = std::move(paper),
          .exact_when = "P = 1",
          .added = "one message per channel, loop or chunk; flags; filling; the protocol's latency",
          .dense = true,
          .independent_iterations = true,
          .stand_ins = {.pipeline = pipeline_of(kind)},
          .options = std::move(options),
          .run_cost = [kind](const CostInput& in) { return nccl_cost(in, kind); },
          .make = [kind](const SchemeSetup& setup) { return std::make_unique<Nccl>(setup, kind); }};
}

/// A half of the rings' allreduce as a collective.
SchemeInfo half_entry(std::string name, std::string summary, NcclKind kind) {
  const auto make = [kind](const SchemeSetup& setup) {
    const NcclPlan plan = plan_of(kind, setup.options, setup.ranks,
                                  setup.space.value_words(setup.space.components).value(),
                                  setup.node, setup.beta_per_word);
    const CutBlock cut = [shared = setup.shared, gamma = setup.gamma, space = setup.space,
                          ranks = setup.ranks](const Message& held, int rank, int part, int parts) {
      const auto begin = [&](int block) { return part_begin(space.components, ranks, block); };
      const ComponentRange block{.first = begin(rank), .last = begin(rank + 1)};
      return GradientReduction(*shared, gamma, space, block).cut(held, {part, part + 1}, parts);
    };
    return dense_collective(
        setup, phase_of(plan.choice),
        [kind, plan, cut](Communicator& comm, Message mine, const GradientReduction& reduction) {
          const RingWork half =
              kind == NcclKind::allgather ? RingWork::allgather : RingWork::reduce_scatter;
          return half_channel_rings(comm, plan.nodes, std::move(mine), reduction, half, cut,
                                    plan.channels, plan.parts, plan.format);
        });
  };
  const bool sums = kind == NcclKind::reduce_scatter;
  return {.name = std::move(name),
          .collective_kind = collective_of(kind),
          .summary = std::move(summary),
          .source = "NVIDIA NCCL, connect.cc and tuning.cc",
          .paper = {.latency = "P-1",
                    .words = "n (P-1)/P",
                    .reduced = "0",
                    .reduced_high = sums ? "n (P-1)/P" : "0",
                    .ours = true},
          .exact_when = "P = 1",
          .added = "one message per channel or loop; flags; the protocol's latency",
          .dense = true,
          .options = {node_option(), channels_option(), chunk_option(), ll128_option(),
                      gpu_option(), rendezvous_option(), protocol_option(3)},
          .run_cost = [kind](const CostInput& in) { return nccl_cost(in, kind); },
          .make = make};
}

}  // namespace

NcclChoice nccl_choice(std::int64_t bytes, Nodes nodes, const NcclFacts& facts,
                       std::span<const NcclAlgorithm> algorithms, Collective collective) {
  NcclChoice best{.time = Seconds(std::numeric_limits<double>::infinity())};
  if (nodes.ranks == 1) return best;
  for (const NcclAlgorithm algorithm : algorithms) {
    for (const NcclProtocol protocol : kProtocols) {
      if (protocol == NcclProtocol::ll128 && !facts.ll128) continue;
      const Seconds time = tuner_time(algorithm, protocol, bytes, nodes, facts, collective);
      if (time < best.time) best = {algorithm, protocol, time};
    }
  }
  return best;
}

std::vector<SchemeInfo> nccl_schemes() {
  const PaperCost ring{
      .latency = "2 (P-1)", .words = "2n (P-1)/P", .reduced = "0", .reduced_high = "n (P-1)/P"};
  const PaperCost tree{.latency = "min(1, P-1) 2 (min(node, P) - 1 + log ceil(P/node))",
                       .words = "2n min(1, P-1)",
                       .reduced = "0",
                       .reduced_high = "n min(1, P-1)"};
  PaperCost both = ring;
  both.latency = "min(2 (P-1), " + tree.latency + ")";
  both.latency_high = ring.latency;
  both.words_high = tree.words;
  return {
      nccl_entry("nccl_ring",
                 "a ring in each of several channels, which enter nodes at different ranks (NCCL)",
                 "NVIDIA NCCL, connect.cc and tuning.cc", ring, NcclKind::ring),
      nccl_entry(
          "nccl_tree",
          "in each channel two binary trees over the nodes and a chain inside each node (NCCL)",
          "NVIDIA NCCL, trees.cc and tuning.cc; NCCL 2.4 (2019)", tree, NcclKind::tree),
      nccl_entry("dense_auto", "nccl_ring or nccl_tree, and its protocol, as NCCL's tuner chooses",
                 "NVIDIA NCCL, tuning.cc", both, NcclKind::automatic),
      auto_ovlp_entry(both),
      half_entry("allgather_nccl_ring", "blocks around a ring in each of several channels (NCCL)",
                 NcclKind::allgather),
      half_entry("reduce_scatter_nccl_ring",
                 "blocks around a ring in each of several channels, summed on the way (NCCL)",
                 NcclKind::reduce_scatter)};
}

}  // namespace thinwire::algorithms
