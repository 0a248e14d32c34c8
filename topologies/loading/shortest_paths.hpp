// SimGrid's shortest paths, quickly.
//
// SimGrid computes the paths of a Dijkstra zone anew for every pair of points: 66 s for the pairs of
// 512 hosts and 130 switches. With the routing DijkstraCache it keeps those from each source, and
// still takes 17 ms for a source among 8192 hosts, which is minutes for all of them. The zone here
// takes the same routes in a fraction of the time: the fewest links, and among equals the one that
// SimGrid's order of vertices finds first.
#pragma once

#include <simgrid/forward.h>

#include <memory>

namespace thinwire::topologies {

class ShortestPaths {
 public:
  /// Listens to the routes of the XML from here on: to be made before it is loaded.
  ShortestPaths();
  ShortestPaths(const ShortestPaths&) = delete;
  ShortestPaths& operator=(const ShortestPaths&) = delete;
  ~ShortestPaths();

  /// Moves the hosts and routers of each Dijkstra zone into a zone of ours. Zones that have zones in
  /// them stay SimGrid's and keep their paths; so do all zones of a platform with bypass routes,
  /// which SimGrid looks up by zone. To be called when the XML is loaded and the platform is not yet
  /// sealed. Throws std::invalid_argument where SimGrid cannot follow a path through a zone.
  void quicken(const simgrid::s4u::Engine& engine, bool bypasses);

 private:
  struct Heard;
  std::shared_ptr<Heard> heard_;  // which SimGrid's signal holds too
};

}  // namespace thinwire::topologies
