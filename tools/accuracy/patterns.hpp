// Traffic that is no allreduce: who sends what to whom, as a program a rank. To measure networks
// by.
//
//   ring                 P-1 rounds: every rank sends to its right neighbour, receives from its
//   left recursive_doubling   rounds 1, 2, 4 ...: rank r exchanges with r xor the round. Where P is
//   no
//                        power of two, the first 2 (P - 2^m) ranks fold into half as many before
//                        and unfold after, as MPICH does
//   rotated_B            all-to-all: in step s rank r sends to r + s, with up to B steps under way
//   random_permutation   8 rounds: every rank sends to pi(r), another pi in each round
//   incast               every rank sends one message to rank 0, all at once
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/message.hpp"
#include "sim/core/kernel/network.hpp"

namespace thinwire::accuracy {

/// Lengths of messages by who sends and who receives: all alike, or drawn.
class MessageLengths {
 public:
  [[nodiscard]] static MessageLengths equal(Words words) { return {words, words, 0}; }
  /// Uniform in the logarithm between the two, and the same for the same seed and pair.
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

/// What the messages of a pattern are.
struct PatternMessages {
  MessageLengths lengths = MessageLengths::equal(Words(1));
  Payload payload = {};    ///< of all of them
  std::uint64_t seed = 1;  ///< of what the pattern draws
};

struct Pattern {
  std::string name;
  std::string summary;
  /// What each of `ranks` ranks runs, from 1 up. May be run on several networks.
  RankProgram (*program)(int ranks, const PatternMessages& messages);
  std::int64_t (*messages)(int ranks);  ///< at most, of all ranks together
  int in_flight = 1;                    ///< messages that a rank sends at a time
};

[[nodiscard]] const std::vector<Pattern>& all_patterns();
/// Nullptr where there is none of that name.
[[nodiscard]] const Pattern* pattern_named(std::string_view name);

}  // namespace thinwire::accuracy
