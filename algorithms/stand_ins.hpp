// What of a scheme can stand for all of it (docs/explanation/approximate.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "algorithms/options.hpp"

namespace thinwire::algorithms {

struct CostInput;

/// How a dense scheme sends a gradient through trees: chunk after chunk, as through a pipeline. A
/// gradient of fewer chunks is sent in the same way, in chunks of the same length, by `scheme` with
/// these of its options.
///
/// The pipeline may fill and empty several times, once for each bucket. A bucket's chunks may be
/// shorter than the first bucket's; they are taken for fewer chunks of the same length together.
struct Pipeline {
  std::int64_t chunks = 1;  ///< in each tree
  std::int64_t fills = 1;
  double long_chunks = 1;  ///< if all had the length of the first bucket's
  bool own_phases = true;  ///< `scheme` has the phases of the scheme that is asked
  std::string scheme;
  std::map<std::string, OptionValue> options;
};

/// Whether each rank adds its own part of sparse gradients. Some parts have more entries than
/// others, so few ranks stand for all only where this says so.
enum class UnevenParts : std::uint8_t {
  none,
  /// All parts are sent straight to their ranks, and what follows hardly depends on their sizes; or
  /// they go around a ring, which waits for the fullest one in every step.
  sent,
  /// As `sent`, and most of the time is an allgather of the parts, whose longest messages vary.
  sent_and_gathered
};

/// Few of a scheme's ranks, or of its chunks if it sends chunk after chunk.
struct StandIns {
  /// Ranks whose numbers differ by a multiple of this do the same, if it divides P.
  int alike_after = 1;
  UnevenParts uneven_parts = UnevenParts::none;
  /// An option that makes ranks busy for different times; empty: there is none.
  std::string unlike_with = {};
  /// The ranks of a node add parts first, so the ranks of whole nodes stand for others.
  bool adds_in_nodes = false;
  /// The pipeline of schemes that send chunk after chunk, whose ranks have different places in trees;
  /// nothing where they do not.
  std::function<std::optional<Pipeline>(const CostInput&)> pipeline = {};
};

}  // namespace thinwire::algorithms
