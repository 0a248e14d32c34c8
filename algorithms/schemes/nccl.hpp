// NCCL's collectives, and its choice between its allreduces.
//
//   nccl_ring        a ring through all ranks in each of several channels (2.x)
//   nccl_tree        two binary trees over the nodes in each channel, a chain inside each node (2.4 on)
//   dense_auto       the one of both, and its protocol, that NCCL's tuner would take
//   dense_auto_ovlp  dense_auto for each bucket of dense_ovlp: what PyTorch DDP does on NCCL
//   allgather_nccl_ring, reduce_scatter_nccl_ring  the halves of nccl_ring, as collectives
//
// NVIDIA NCCL (github.com/NVIDIA/nccl, BSD licence): src/graph/connect.cc and trees.cc (rings and
// trees between nodes), src/graph/tuning.cc (the tuner, of 2.29); Jeaugey, "Massively scale your deep learning
// training with NCCL 2.4" (2019).
//
// Schedule: algorithms/collectives/channels.hpp. The gradient is cut into one share per channel.
// Channels enter a node at different ranks, spread over it, so with as many channels as ranks of a node
// (the default), or as NICs, every NIC carries one channel. On one node, with option `gpu`, there are
// twice as many as carry the bandwidth of a port at the tuner's rate with LL128 (search.cc,
// ncclTopoDupChannels), at most 32. Short gradients take fewer: each has to have 32 KiB with Simple, 4 KiB
// with the others, and P times that with LL in the ring (enqueue.cc: 512 threads, and the bytes that
// each of them must have). NCCL searches the ways of its rings inside the nodes for the links
// that it finds; here they visit the ranks in order, as is right behind an NVSwitch.
//
// Protocols (option `protocol`, by NCCL's numbers): how the receiver learns that data is there.
//   0 LL      8 bytes of every 16 are data; no fence
//   1 LL128   120 bytes of every 128
//   2 Simple  all of them; each message is followed by a fence and a flag
// A message takes longer than on the network alone, by the tuner's table of latencies (hwLatencies of NCCL
// 2.29) less a message of a ring with LL (0.47 µs inside nodes as the platforms have it, 2.7 between them):
//                     inside nodes, ring        tree   between nodes, ring   tree
//   LL       0.13, of several nodes 0.53        0.13                     0    2.3
//   LL128                           1.43        0.78                   1.3    5.8
//   Simple                          2.93        3.53                  11.3   11.3
// LL's 0.53: the proxy thread takes 1 µs for a message between nodes (getNetOverhead), which sets the pace
// of the ring's steps. With a rank a node a ring has the tree's latencies. With LL a message also takes
// 4 bytes / (rate / channels) for each word of data: flags are polled. The rate is the most that the tuner
// expects of all channels (llMaxBws of H100 on a node, and of Intel's CPUs): 141, 39, 20.4 GB/s on 1, 2
// and more nodes. Each rank begins with the tuner's base latency (the launch): 6.6 µs (ring, LL), 6.8
// (tree, LL), 14 (LL128), 8.4 (Simple). `protocol` 3 takes the tuner's protocol for the algorithm.
//
// A thread block of the GPU can be what limits a tree: NCCL's tuner has a bandwidth for each channel
// (perChMaxTreeBws of NCCL 2.18 and later). Option `channel_bandwidth` of nccl_tree takes it; the thread
// blocks that sum and those that hand down then take 4 bytes / (channel_bandwidth / 4) for a word.
// With option `gpu`, each message with LL128 or Simple takes 4 bytes / 20 GB/s (V100, A100) or 36.7 (H100) for each
// word of data, of 512 KiB at most: the thread block that passes it on, at the tuner's rate of a channel with LL128, and
// a slot of NCCL's buffers. On MareNostrum 5, rings of 64 MiB on 16 and 64 nodes take 1.4 and 1.3 times as
// long as without.
//
// With option `rendezvous_s`, a message of more than 2 KiB on the wire takes so long more between
// nodes: libfabric on Slingshot asks the receiver first.
//
// Cost, with C channels, L loops, and f = 2, 16/15 or 1 words on the wire per word of data:
//   nccl_ring  L C 2 (P-1) messages and 2n (P-1)/P f words per rank. On the α-β machine, where all
//              channels share a rank's port, it takes at least their sum, and at most the time of
//              one more message for each channel; the upper end allows for twice the messages, since
//              channels are out of step where there is no clock. Not proven, but tested.
//   nccl_tree  a rank sends and receives 2n (P-1)/P f words on average, and at most five messages of
//              a chunk for each pair of chunks in each channel; filling and draining take the depth of
//              the trees, log m + g - 1 for m nodes of g ranks, twice.
//   allgather_nccl_ring, reduce_scatter_nccl_ring  a half of nccl_ring's; n is the whole vector. The
//              tuner has half the ring's latencies, and no plateau with Simple. NCCL's other ways
//              (PAT with a rank a node, from 2.23 on; NVLS) are not here.
// The sources promise 2 (P-1) α + 2n (P-1)/P β for the ring, and 2 (g - 1 + log m) α + 2n β for the
// trees. Both ends of the trees' interval are bounds of a coarse kind: the upper one, as if each
// round of chunks took all messages of the busiest rank, is not proven, but tested. Exact at P = 1.
// Where many ranks share links (`links`, `smpi`), the channels use all NICs at once.
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// dense_auto computes latency + bytes / bandwidth for each algorithm and protocol as
// ncclTopoGetAlgoTime does (its tables of latencies and of corrections for trees, and the factors
// of the protocols' bandwidths), and takes the least. The bandwidth of a channel is 1/β of the
// network. With option `gpu` (7: V100, 8: A100, 9: H100) it takes the most that the thread blocks of a
// channel reach (perChMaxTreeBws, perChMaxRingLL128Bws), and for trees on two nodes, where NCCL takes the
// bandwidth inside them, this alone. With `ll128` off it leaves LL128 out on several nodes. NCCL does so
// unless the path from GPU to NIC stays below the CPU (typeInter at most PXB, or PXN from Hopper on).
// The phase of the run is called after what it took: ring_ll ... tree_simple.
//
// dense_auto_ovlp has the schedule of dense_ovlp: one bucket after another on the second strand. It
// costs the sum of its buckets; both ends are sums of the ends of dense_auto. Communication takes no
// share of the GPU's processors, which NCCL's kernels do.
//
// Worked example: n = 6400, P = 8, node = 4, channels = 4: nccl_ring sends 56 messages of 200 words
// per rank: at least 56 α + 11200 β with Simple, of which each NIC carries a quarter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

enum class NcclAlgorithm : std::uint8_t { tree, ring };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };

/// What the tuner takes.
struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  Seconds time = {};  ///< that the tuner expects
};
/// What the tuner knows of a machine: the seconds per byte of each of its channels, the compute
/// capability of its GPUs (0: unknown), and whether LL128 is on.
struct NcclFacts {
  int channels = 1;
  Seconds beta = {};
  int gpu = 0;
  bool ll128 = true;
};
/// What NCCL's tuner takes of these algorithms for a collective of `bytes` bytes: those of an
/// allreduce's vector, an allgather's result, or a rank's input of a reduce-scatter. Only allreduces
/// have trees.
[[nodiscard]] NcclChoice nccl_choice(std::int64_t bytes, Nodes nodes, const NcclFacts& facts,
                                     std::span<const NcclAlgorithm> algorithms,
                                     Collective collective = Collective::allreduce);

[[nodiscard]] std::vector<SchemeInfo> nccl_schemes();

}  // namespace thinwire::algorithms
