// Positions of many cuts in statistical vectors of one range. Which halves of the range have to be
// drawn for them depends on the cuts alone, and thousands of ranks cut their vectors at the same
// coordinates. So the halves are listed once, depth by depth, and each vector then draws all halves
// of a depth in one loop, which the compiler vectorises. The draws are the same as in halving.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace thinwire::inline gradient {

class Population;
struct CellCounts;
struct Statistics;

/// Cuts of vectors that lie in [first, last), where nodes no wider than `narrow` are not halved.
struct CutSpace {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t narrow = 1;
  std::int64_t offset = 0;  ///< a cut's coordinate minus its coordinate in the range

  friend bool operator==(const CutSpace&, const CutSpace&) = default;
};

/// Which halves of the tree over a space are drawn to find the positions of a set of cuts. Found once,
/// and used for the vectors of all ranks.
class CutPlan {
 public:
  /// Nodes of this width have products of a cut's offset and the entries that a double holds exactly.
  static constexpr std::uint32_t kWidest = std::uint32_t{1} << 26U;

  /// `cuts` increase; space.narrow is at most kWidest.
  CutPlan(CutSpace space, std::span<const std::int64_t> cuts);

  [[nodiscard]] bool is_of(const CutSpace& space, std::span<const std::int64_t> cuts) const;
  [[nodiscard]] const std::vector<std::int64_t>& cuts() const { return cuts_; }
  /// The positions of the cuts in a vector, which is not one of all coordinates.
  [[nodiscard]] std::vector<std::uint32_t> positions_in(const Statistics& body) const;

 private:
  /// A node, by its place in the lists of sizes: the root has place 0, and the halves of the node
  /// that is drawn j-th have the places 2j + 1 and 2j + 2.
  using Place = std::uint32_t;

  /// A cut in a node that is not halved further, as a fraction of the node's width.
  struct Cut {
    Place place = 0;
    double offset = 0;
    double width = 1;
  };
  /// A node that may have to be drawn, with the cuts that lie inside of it.
  struct Open {
    Place place;
    std::uint32_t first;
    std::uint32_t last;
    std::uint64_t number;
    std::size_t begin;
    std::size_t end;
  };

  /// Lists the draw of a node, and appends its halves that have cuts inside.
  void halve(const Open& node, std::vector<Open>& halves);
  [[nodiscard]] const std::vector<double>& shares_of(const Statistics& body) const;

  CutSpace space_;
  std::vector<std::int64_t> cuts_;
  std::vector<Cut> found_;  ///< by cut
  // By drawn node:
  std::vector<Place> places_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::uint32_t> lasts_;
  std::vector<std::uint64_t> mixed_numbers_;
  std::vector<double> left_widths_;
  std::vector<double> right_widths_;
  std::vector<std::size_t> depths_;  ///< the end of each depth in these lists
  /// The shares that are expected in the left halves. The counts must outlive the plan.
  mutable std::map<const CellCounts*, std::vector<double>> shares_;
};

}  // namespace thinwire::inline gradient
