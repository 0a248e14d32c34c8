#include "sim/app/studies/validate/open_mpi_choice.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace thinwire::studies {

namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

constexpr const char* kBruck = "bruck_ompi";
constexpr const char* kButterfly = "butterfly_ompi";
constexpr const char* kLinear = "linear_ompi";
constexpr const char* kLinearSync = "linear_sync_ompi";
constexpr const char* kModifiedBruck = "modified_bruck_ompi";
constexpr const char* kNeighbor = "neighbor_ompi";
constexpr const char* kNonoverlapping = "nonoverlapping_ompi";
constexpr const char* kPairwise = "pairwise_ompi";
constexpr const char* kRabenseifner = "rabenseifner_ompi";
constexpr const char* kRecursiveDoubling = "recursive_doubling_ompi";
constexpr const char* kRecursiveHalving = "recursive_halving_ompi";
constexpr const char* kRing = "ring_ompi";
constexpr const char* kRingSegmented = "ring_segmented_ompi";

/// What is taken below a number of bytes.
struct BelowBytes {
  std::int64_t bytes;
  const char* algorithm;
};
/// What is taken below a number of ranks.
struct BelowRanks {
  std::int64_t ranks;
  std::vector<BelowBytes> choices;
};

// ompi_coll_tuned_*_intra_dec_fixed for operations that commute (open-mpi/ompi,
// ompi/mca/coll/tuned/coll_tuned_decision_fixed.c: the same figures from v4.1.0 to v5.0.9;
// BSD-3-Clause). Its algorithms for two ranks are recursive doubling and a pairwise exchange.
const std::map<std::string, std::vector<BelowRanks>>& rules() {
  static const std::map<std::string, std::vector<BelowRanks>> all{
      {"allreduce",
       {{4,
         {{8, kRing},
          {4096, kRecursiveDoubling},
          {8192, kRing},
          {16384, kRecursiveDoubling},
          {65536, kRing},
          {262144, kRingSegmented},
          {kAny, kRabenseifner}}},
        {8, {{16, kRing}, {8192, kRecursiveDoubling}, {kAny, kRabenseifner}}},
        {16, {{8192, kRecursiveDoubling}, {kAny, kRabenseifner}}},
        {32, {{64, kRingSegmented}, {4096, kRecursiveDoubling}, {kAny, kRabenseifner}}},
        {64, {{128, kRingSegmented}, {kAny, kRabenseifner}}},
        {128, {{262144, kRecursiveDoubling}, {kAny, kRabenseifner}}},
        {256, {{131072, kNonoverlapping}, {262144, kRecursiveDoubling}, {kAny, kRabenseifner}}},
        {512, {{4096, kNonoverlapping}, {kAny, kRabenseifner}}},
        {2048, {{2048, kNonoverlapping}, {16384, kRecursiveDoubling}, {kAny, kRabenseifner}}},
        {4096,
         {{2048, kNonoverlapping},
          {4096, kRingSegmented},
          {16384, kRecursiveDoubling},
          {kAny, kRabenseifner}}},
        {kAny,
         {{2048, kNonoverlapping},
          {16384, kRingSegmented},
          {32768, kRecursiveDoubling},
          {kAny, kRabenseifner}}}}},
      {"allgather",
       {{3, {{kAny, kRecursiveDoubling}}},
        {32, {{kAny, kRecursiveDoubling}}},
        {64, {{1024, kRecursiveDoubling}, {65536, kNeighbor}, {kAny, kRing}}},
        {128, {{512, kRecursiveDoubling}, {65536, kNeighbor}, {kAny, kRing}}},
        {256,
         {{512, kRecursiveDoubling},
          {131072, kNeighbor},
          {524288, kRing},
          {1048576, kNeighbor},
          {kAny, kRing}}},
        {512,
         {{32, kRecursiveDoubling},
          {128, kBruck},
          {1024, kRecursiveDoubling},
          {131072, kNeighbor},
          {524288, kRing},
          {1048576, kNeighbor},
          {kAny, kRing}}},
        {1024,
         {{64, kRecursiveDoubling}, {256, kBruck}, {2048, kRecursiveDoubling}, {kAny, kNeighbor}}},
        {2048,
         {{4, kRecursiveDoubling},
          {8, kBruck},
          {16, kRecursiveDoubling},
          {32, kBruck},
          {256, kRecursiveDoubling},
          {512, kBruck},
          {4096, kRecursiveDoubling},
          {kAny, kNeighbor}}},
        {4096,
         {{32, kBruck},
          {128, kRecursiveDoubling},
          {512, kBruck},
          {4096, kRecursiveDoubling},
          {kAny, kNeighbor}}},
        {kAny,
         {{2, kRecursiveDoubling},
          {8, kBruck},
          {16, kRecursiveDoubling},
          {512, kBruck},
          {4096, kRecursiveDoubling},
          {kAny, kNeighbor}}}}},
      {"reduce_scatter",
       {{4, {{65536, kRing}, {131072, kButterfly}, {kAny, kRing}}},
        {8, {{8, kNonoverlapping}, {262144, kRecursiveHalving}, {kAny, kRing}}},
        {32, {{262144, kRecursiveHalving}, {kAny, kRing}}},
        {64,
         {{64, kNonoverlapping}, {2048, kRecursiveHalving}, {524288, kButterfly}, {kAny, kRing}}},
        {128,
         {{256, kNonoverlapping},
          {512, kRecursiveHalving},
          {2048, kButterfly},
          {4096, kRecursiveHalving},
          {kAny, kButterfly}}},
        {256, {{256, kNonoverlapping}, {512, kRecursiveHalving}, {kAny, kButterfly}}},
        {512, {{256, kNonoverlapping}, {1024, kRecursiveHalving}, {kAny, kButterfly}}},
        {1024,
         {{512, kNonoverlapping},
          {2048, kRecursiveHalving},
          {8192, kButterfly},
          {16384, kRecursiveHalving},
          {kAny, kButterfly}}},
        {2048,
         {{512, kNonoverlapping},
          {4096, kRecursiveHalving},
          {16384, kButterfly},
          {32768, kRecursiveHalving},
          {kAny, kButterfly}}},
        {4096, {{512, kNonoverlapping}, {4096, kRecursiveHalving}, {kAny, kButterfly}}},
        {kAny, {{1024, kNonoverlapping}, {8192, kRecursiveHalving}, {kAny, kButterfly}}}}},
      {"alltoall",
       {{3, {{32768, kPairwise}, {262144, kLinearSync}, {kAny, kPairwise}}},
        {8,
         {{8192, kLinearSync},
          {16384, kLinear},
          {65536, kLinearSync},
          {524288, kLinear},
          {1048576, kPairwise},
          {kAny, kLinear}}},
        {16, {{262144, kLinearSync}, {kAny, kLinear}}},
        {32,
         {{4, kLinearSync},
          {512, kModifiedBruck},
          {8192, kLinearSync},
          {32768, kLinear},
          {262144, kLinearSync},
          {524288, kLinear},
          {kAny, kLinearSync}}},
        {64, {{512, kModifiedBruck}, {524288, kLinear}, {kAny, kLinearSync}}},
        {128,
         {{1024, kModifiedBruck},
          {2048, kLinear},
          {4096, kLinearSync},
          {262144, kLinear},
          {kAny, kPairwise}}},
        {256, {{1024, kModifiedBruck}, {2048, kLinearSync}, {262144, kLinear}, {kAny, kPairwise}}},
        {512, {{1024, kModifiedBruck}, {8192, kLinearSync}, {32768, kLinear}, {kAny, kPairwise}}},
        {1024,
         {{512, kModifiedBruck},
          {8192, kLinearSync},
          {16384, kLinear},
          {131072, kLinearSync},
          {262144, kLinear},
          {kAny, kPairwise}}},
        {2048,
         {{512, kModifiedBruck},
          {1024, kLinearSync},
          {2048, kLinear},
          {16384, kLinearSync},
          {262144, kLinear},
          {kAny, kLinearSync}}},
        {4096,
         {{1024, kModifiedBruck},
          {4096, kLinearSync},
          {8192, kLinear},
          {131072, kLinearSync},
          {kAny, kLinear}}},
        {kAny,
         {{2048, kModifiedBruck},
          {8192, kLinearSync},
          {16384, kLinear},
          {32768, kLinearSync},
          {65536, kLinear},
          {kAny, kLinearSync}}}}}};
  return all;
}

}  // namespace

std::string open_mpi_choice(const std::string& collective, std::int64_t ranks, std::int64_t bytes) {
  const auto of = rules().find(collective);
  if (of == rules().end()) return {};
  const auto& choices = std::ranges::find_if(of->second, [&](const BelowRanks& some) {
                          return ranks < some.ranks;
                        })->choices;
  return std::ranges::find_if(choices, [&](const BelowBytes& some) { return bytes < some.bytes; })
      ->algorithm;
}

}  // namespace thinwire::studies
