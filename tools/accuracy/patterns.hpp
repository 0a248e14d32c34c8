// Traffic patterns other than allreduce, as one program per rank, to measure networks with.
//
//   ring                 P-1 rounds: every rank sends to its right neighbour and receives from its
//                        left one
//   recursive_doubling   rounds 1, 2, 4 ...: rank r exchanges with r xor the round. Unless P is a
//                        power of two, the first 2 (P - 2^m) ranks fold into half as many before
//                        and unfold after, as MPICH does
//   rotated_B            all-to-all: in step s rank r sends to r + s, with up to B steps in flight
//   random_permutation   8 rounds: every rank sends to pi(r), with a new pi per round
//   incast               every rank sends one message to rank 0, simultaneously
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"
#include "sim/core/kernel/network.hpp"

namespace thinwire::accuracy {

/// The length of a message by sender and receiver: all equal, or random.
class MessageLengths {
 public:
  [[nodiscard]] static MessageLengths equal(Words words) { return {words, words, 0}; }
  /// Draws lengths uniformly in the logarithm between both limits; equal seeds and pairs give equal
  /// lengths.
  [[nodiscard]] static MessageLengths between(Words least, Words most, std::uint64_t seed) {
    return {least, most, seed};
  }
  [[nodiscard]] Words operator()(Rank from, Rank to) const;

 private:
  MessageLengths(Words least, Words most, std::uint64_t seed)
      : least_(least), most_(most), seed_(seed) {}

  Words least_;
  Words most_;
  std::uint64_t seed_;
};

/// The messages of a pattern.
struct PatternMessages {
  MessageLengths lengths = MessageLengths::equal(Words(1));
  Payload payload = {};    ///< payload of every message
  std::uint64_t seed = 1;  ///< seed of the random choices of the pattern
};

struct Pattern {
  std::string name;
  std::string summary;
  /// The program of each of `ranks` >= 1 ranks. It may run on several networks.
  RankProgram (*program)(int ranks, const PatternMessages& messages);
  std::int64_t (*messages)(int ranks);  ///< upper bound for all ranks together
  int in_flight = 1;                    ///< messages that a rank has in flight at once
};

[[nodiscard]] const std::vector<Pattern>& all_patterns();
/// The pattern of that name; nullptr if there is none.
[[nodiscard]] const Pattern* pattern_named(std::string_view name);

}  // namespace thinwire::accuracy
