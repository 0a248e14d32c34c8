// How many entries DEFT selects in each layer of a gradient: deft.hpp has the rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace thinwire::algorithms {

/// The shares of k of all layers. Takes O(L log L) time for L layers, and O(L) memory.
class DeftShares {
 public:
  /// `sizes`: coordinates of the layers. `norms`: their L2 norms, up to a common factor.
  DeftShares(std::span<const std::int64_t> sizes, std::vector<double> norms, std::int64_t k);

  /// The share of each layer.
  [[nodiscard]] const std::vector<std::int64_t>& all() const { return shares_; }
  /// The share of a layer if its norm were `norm` and all other norms stayed. It takes O(log L) time,
  /// since the shares of the layers before it are taken to change by one factor. So it may be off by a
  /// few entries where shares are rounded down to a few, and by more where many layers are selected as
  /// a whole.
  [[nodiscard]] std::int64_t of(std::size_t layer, double norm) const;

 private:
  /// What is left when it is a layer's turn.
  struct Turn {
    double k = 0;  ///< a whole number, but where it is estimated
    double norms = 0;
  };
  [[nodiscard]] std::int64_t share(const Turn& turn, double norm, std::int64_t size) const;

  /// A layer's share without what is left over in the end.
  [[nodiscard]] std::int64_t in_turn(std::size_t layer) const;

  std::vector<std::int64_t> sizes_;
  std::vector<double> norms_;
  std::vector<std::size_t> order_;    ///< the layers, turn by turn
  std::vector<std::size_t> turn_of_;  ///< by layer
  std::vector<Turn> turns_;           ///< [layers + 1]
  std::vector<std::int64_t> shares_;  ///< by layer
  std::int64_t least_ = 1;            ///< entries of a layer: none if k is 0
};

}  // namespace thinwire::algorithms
