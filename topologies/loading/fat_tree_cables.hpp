// SimGrid's fat trees, connected quickly.
//
// SimGrid 3.32 looks for the parents of a node among all nodes of the level above, so the steps grow
// with the square of the hosts: minutes for 100,000 of them. Here SimGrid makes the hosts, the
// switches and the first cable, and is then told that there are no more nodes to connect. The other
// cables are put into its own tree, where they would have been. Routes are SimGrid's, which
// finds them in that tree. See docs/decisions/0029-large-platforms.md.
#pragma once

#include <memory>

namespace thinwire::topologies {

class FatTreeCables {
 public:
  /// Waits for the first cable of a fat tree, and keeps SimGrid from looking for the others. To be
  /// made before the XML is loaded, which has one fat tree: SimGrid numbers the cables of several
  /// one after the other.
  FatTreeCables();
  FatTreeCables(const FatTreeCables&) = delete;
  FatTreeCables& operator=(const FatTreeCables&) = delete;
  ~FatTreeCables();

  /// Makes the others. To be called when the XML is loaded, and the platform is not yet sealed.
  void make_rest();

 private:
  struct Halted;
  std::shared_ptr<Halted> halted_;  // which SimGrid's signal holds too
};

}  // namespace thinwire::topologies
