// Where the entries of a statistical vector lie. Its range is halved again and again, and the number
// of entries in each left half is drawn with the vector's key and the number of the node: the range
// is node 1, and node i has the halves 2i and 2i + 1. Every query finds the same numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/core/base/random.hpp"
#include "sim/core/gradient/population.hpp"
#include "sim/core/gradient/statistical.hpp"

namespace thinwire::inline gradient {

/// An approximate standard normal draw, cheaper than an exact one: the sum of four uniform draws.
inline double rough_normal(std::uint64_t bits) {
  const std::uint64_t sum =
      (bits & 0xffffU) + (bits >> 16U & 0xffffU) + (bits >> 32U & 0xffffU) + (bits >> 48U);
  // The sum as a double, by its bits: processors that convert no 64-bit integers convert these.
  constexpr std::uint64_t kOneUlpIsOne = 0x4330000000000000U;  // the bits of 2^52
  const double converted = std::bit_cast<double>(kOneUlpIsOne | sum) - 0x1p52;
  constexpr double kDeviation = 37837.0;  // of the sum: 65536 / sqrt(3)
  return (converted - 2 * 65535.0) / kDeviation;
}

/// Rounds a number below 2^51 that is not negative down to a whole one.
inline double rounded_down(double number) {
  const double nearest = (number + 0x1p52) - 0x1p52;
  return nearest - (nearest > number ? 1.0 : 0.0);
}

/// Draws how many of the `size` entries of a node are in its left half, where `share` of them is
/// expected. Both halves hold at most one entry per coordinate. All numbers but `share` are whole. The
/// code has no branches and calls no library functions, so that a loop over nodes is vectorised.
struct HalfDraw {
  std::uint64_t key;  ///< of the vector
  double dispersion;

  [[nodiscard]] double left(std::uint64_t mixed_number, double size, double share,
                            double left_width, double right_width) const {
    const double mean = size * share;
    const double variance = mean * (1 - share) * dispersion;
    const double drawn =
        mean + std::sqrt(variance > 0 ? variance : 0) * rough_normal(mix(key ^ mixed_number));
    const double least = size > right_width ? size - right_width : 0;
    const double most = size < left_width ? size : left_width;
    const double nearest = drawn + 0.5;
    const double at_most = most < nearest ? most : nearest;
    return rounded_down(nearest < least ? least : at_most);
  }
};

/// Descends the tree over a vector's range.
class Halving {
 public:
  explicit Halving(const Statistics& body)
      : body_(body), draw_{body.key, body.counts != nullptr ? body.counts->dispersion : 1} {}

  /// A range of coordinates, and the entries in it.
  struct Node {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t begin;  ///< entries before the node
    std::uint32_t size;
    double before;  ///< expected entries before its begin, and before its end
    double until;
    std::uint64_t number = 1;
  };

  [[nodiscard]] Node root() const {
    return {body_.first, body_.last, 0, body_.size, before(body_.first), before(body_.last)};
  }
  [[nodiscard]] bool whole(const Node& node) const {
    return body_.kind == Statistics::Kind::all || node.size == 0 ||
           node.size == node.last - node.first || node.last - node.first <= narrow(body_);
  }
  [[nodiscard]] std::pair<Node, Node> halves(const Node& node) const;

  /// Entries are evenly spaced within a node that is not halved further.
  [[nodiscard]] static std::uint32_t position_in(const Node& node, std::int64_t coordinate);
  /// The smallest coordinate whose position is at least `position`.
  [[nodiscard]] static std::uint32_t coordinate_in(const Node& node, std::uint32_t position);

  /// Nodes no wider than this are not halved.
  [[nodiscard]] static std::uint32_t narrow(const Statistics& body) {
    return body.counts != nullptr ? body.population->cell_width() : 1;
  }
  /// The entries that are expected before a coordinate, up to a factor.
  [[nodiscard]] static double expected_before(const Population* population,
                                              const CellCounts* counts, std::uint32_t coordinate) {
    return counts != nullptr ? population->before(*counts, coordinate) : coordinate;
  }
  /// The share of a node's entries that is expected in its left half, given those expected before
  /// its begin, before its middle and before its end.
  [[nodiscard]] static double left_share(double begin, double middle, double end) {
    return end - begin > 0 ? (middle - begin) / (end - begin) : 0.5;
  }

 private:
  [[nodiscard]] double before(std::uint32_t coordinate) const {
    return expected_before(body_.population.get(), body_.counts, coordinate);
  }

  const Statistics& body_;
  HalfDraw draw_;
};

/// The position of a coordinate in a vector, both without the vector's offset, and the inverse.
[[nodiscard]] std::uint32_t position_of(const Statistics& body, std::int64_t coordinate);
[[nodiscard]] std::uint32_t coordinate_of(const Statistics& body, std::uint32_t position);

}  // namespace thinwire::inline gradient
