#include "topologies/loading/fat_tree_cables.hpp"

#include <fmt/format.h>

#include <simgrid/kernel/routing/FatTreeZone.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "topologies/loading/own_zone.hpp"

namespace thinwire::topologies {

namespace {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

/// What SimGrid knows of a fat tree. All but the nodes is by level, from the hosts up.
struct FatTree {
  std::vector<std::shared_ptr<routing::FatTreeNode>>& nodes;  ///< level after level
  std::vector<std::shared_ptr<routing::FatTreeLink>>& cables;
  std::vector<unsigned int>& level_sizes;  ///< numbers of nodes
  const std::vector<unsigned int>& children;
  const std::vector<unsigned int>& parents;
  const std::vector<unsigned int>& parallels;  ///< cables between a child and a parent
};

/// The members are private. An explicit instantiation may name them.
FatTree tree_in(routing::FatTreeZone& zone);
template <auto kNodes, auto kCables, auto kLevelSizes, auto kChildren, auto kParents,
          auto kParallels>
struct OpenedFatTree {
  friend FatTree tree_in(routing::FatTreeZone& zone) {
    return {zone.*kNodes,    zone.*kCables,  zone.*kLevelSizes,
            zone.*kChildren, zone.*kParents, zone.*kParallels};
  }
};
template struct OpenedFatTree<
    &routing::FatTreeZone::nodes_, &routing::FatTreeZone::links_,
    &routing::FatTreeZone::nodes_by_level_, &routing::FatTreeZone::num_children_per_node_,
    &routing::FatTreeZone::num_parents_per_node_, &routing::FatTreeZone::num_port_lower_level_>;

/// Whether all nodes of a tree are made, and so its cables are next.
bool complete(const FatTree& tree) {
  return !tree.level_sizes.empty() &&
         tree.nodes.size() == std::accumulate(tree.level_sizes.begin(), tree.level_sizes.end(), 0U);
}

/// Makes the cables of a tree, in SimGrid's order and with SimGrid's names.
class FatTreeConnector {
 public:
  FatTreeConnector(routing::NetZoneImpl& zone, const FatTree& tree, const sg4::Link& pattern)
      : zone_(zone),
        tree_(tree),
        pattern_(pattern),
        split_duplex_(tree.cables.front()->up_link_ != tree.cables.front()->down_link_) {}

  void make_all() {
    // The nodes of a level are numbered by their labels, whose first part varies fastest. Part m of
    // a label counts parents where the level is above m, and else children.
    std::size_t below = 0;   // the first node of the level
    std::size_t stride = 1;  // the product of the parents of the levels below
    for (std::size_t level = 0; level < tree_.children.size(); ++level) {
      const std::size_t above = below + tree_.level_sizes[level];
      const std::size_t parents = tree_.parents[level];
      for (std::size_t at = 0; at < tree_.level_sizes[level]; ++at) {
        const std::size_t first =
            at % stride + at / stride / tree_.children[level] * stride * parents;
        for (std::size_t parent = 0; parent < parents; ++parent) {
          connect(*tree_.nodes[below + at], *tree_.nodes[above + first + parent * stride]);
        }
      }
      below = above;
      stride *= parents;
    }
  }

 private:
  void connect(routing::FatTreeNode& child, routing::FatTreeNode& parent) {
    const std::size_t level = child.level;
    for (unsigned int parallel = 0; parallel < tree_.parallels[level]; ++parallel, ++number_) {
      auto& from_child = child.parents[parent.label[level] + parallel * tree_.parents[level]];
      if (from_child != nullptr) continue;  // SimGrid made it
      const std::string name = fmt::format("link_from_{}_{}_{}", child.id, parent.id, number_);
      const sg4::Link* up = make(split_duplex_ ? name + "_UP" : name);
      const sg4::Link* down = split_duplex_ ? make(name + "_DOWN") : up;
      from_child =
          std::make_shared<routing::FatTreeLink>(&child, &parent, up->get_impl(), down->get_impl());
      parent.children[child.label[level] + parallel * tree_.children[level]] = from_child;
      tree_.cables.push_back(from_child);
    }
  }

  const sg4::Link* make(const std::string& name) {
    return zone_.create_link(name, {pattern_.get_bandwidth()})
        ->set_latency(pattern_.get_latency())
        ->seal();
  }

  routing::NetZoneImpl& zone_;
  const FatTree& tree_;
  const sg4::Link& pattern_;
  bool split_duplex_;
  std::size_t number_ = 0;
};

}  // namespace

struct FatTreeCables::Halted {
  routing::NetZoneImpl* zone = nullptr;
  std::vector<unsigned int> level_sizes;
  const sg4::Link* first = nullptr;
};

FatTreeCables::FatTreeCables() : halted_(std::make_shared<Halted>()) {
  sg4::Link::on_creation_cb([halted = std::weak_ptr(halted_)](const sg4::Link& link) {
    const std::shared_ptr<Halted> into = halted.lock();
    if (!into || into->zone != nullptr || !link.get_name().starts_with("link_from_0_")) return;
    for (routing::NetZoneImpl* zone : zones_called("FatTreeZone")) {
      const FatTree tree = tree_in(static_cast<routing::FatTreeZone&>(*zone));
      if (!complete(tree)) continue;
      *into = {.zone = zone, .level_sizes = tree.level_sizes, .first = &link};
      std::ranges::fill(tree.level_sizes, 0);
    }
  });
}

FatTreeCables::~FatTreeCables() = default;

void FatTreeCables::make_rest() {
  if (halted_->zone == nullptr) return;
  const FatTree tree = tree_in(static_cast<routing::FatTreeZone&>(*halted_->zone));
  tree.level_sizes = halted_->level_sizes;
  FatTreeConnector(*halted_->zone, tree, *halted_->first).make_all();
}

}  // namespace thinwire::topologies
