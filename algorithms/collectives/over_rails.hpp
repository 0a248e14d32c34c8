// Split and reduce, and allgather, of sparse vectors over all rails of nodes with several ranks
// (the levels of BlueConnect, MLSys 2019). Rail j consists of the ranks j of all nodes.
#pragma once

#include <optional>

#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/collectives/split_and_reduce.hpp"
#include "algorithms/setup.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/task.hpp"

namespace thinwire::algorithms {

/// The regions of the gradient, and the rank that owns each of them. With R rails and m nodes, there
/// are R m regions; rail j has the m regions from j m on, and node i the region j m + i. If nodes
/// have one rank, rank r owns region r. Where the last node is smaller, the other
/// nodes have ranks beyond the rails, which own no region.
class RailRegions {
 public:
  explicit RailRegions(Nodes nodes) : nodes_(nodes) {}

  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] int count() const { return nodes_.rails() * nodes_.count; }
  [[nodiscard]] Rank owner(int region) const {
    return Rank(nodes_.first_of(region % nodes_.count) + region / nodes_.count);
  }
  [[nodiscard]] std::optional<int> region_of(Rank rank) const {
    const int node = nodes_.node_of(rank.value());
    const int rail = rank.value() - nodes_.first_of(node);
    if (rail >= nodes_.rails()) return std::nullopt;
    return rail * nodes_.count + node;
  }

 private:
  Nodes nodes_;
};

/// The sum of this rank's region over all ranks; nothing if it owns none. `boundaries` are the
/// boundaries of all regions.
/// Schedule, one phase each: inside a node, rank j receives the part of rail j from the others and
/// sums it (split_in_node); on each rail, every rank receives its region from the others and sums it
/// (split_along_rails). Nodes of one rank: split_and_reduce(), without these phases.
/// Cost if each of P = g m ranks has k evenly spread entries that no other has:
/// (g-1) (α + 2k/g β) + (m-1) (α + 2k/m β); the second part is less by the entries that several
/// ranks of a node have.
[[nodiscard]] Task<SparseVector> split_over_rails(Communicator& comm, RailRegions regions,
                                                  SparseVector selected, Boundaries boundaries,
                                                  const SchemeSetup& setup, SplitStyle style);

/// All regions, in order, on every rank; concatenation_of_gathered() joins them.
/// Schedule, one phase each: an allgather of the regions of each rail (allgather_along_rails), and
/// one of the rails' parts inside each node (allgather_in_node). Nodes of one rank: allgather().
/// Cost for regions of L words on P = g m ranks: (ceil(log m) + ceil(log g)) α + (P-1) L β.
[[nodiscard]] Task<Concatenation> allgather_over_rails(Communicator& comm, RailRegions regions,
                                                       SparseVector mine, const SchemeSetup& setup);

}  // namespace thinwire::algorithms
