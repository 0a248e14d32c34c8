// SimGrid's shortest paths, quickly.
//
// A Dijkstra zone takes 17 ms for the routes of a source among 8192 hosts, which is minutes for all
// of them. The zone here takes the same routes in a fraction of the time: the fewest links, and
// among equals the one that SimGrid's order of vertices finds first. Made for zones too large for
// SimGrid's own; smaller ones stay with it.
#pragma once

#include <simgrid/forward.h>

#include <cstddef>
#include <memory>

namespace thinwire::topologies {

class ShortestPaths {
 public:
  /// Listens to the routes of the XML from here on: to be made before it is loaded.
  ShortestPaths();
  ShortestPaths(const ShortestPaths&) = delete;
  ShortestPaths& operator=(const ShortestPaths&) = delete;
  ShortestPaths(ShortestPaths&&) = delete;
  ShortestPaths& operator=(ShortestPaths&&) = delete;
  ~ShortestPaths();

  /// Moves the hosts of a flat Dijkstra zone of at least `least_vertices` hosts and routers into a
  /// zone of ours. To be called when the XML is loaded and the platform is not yet sealed. Does
  /// nothing, and says so, where the platform is anything else. A platform with bypass routes must
  /// not be given.
  bool replace_dijkstra(const simgrid::s4u::Engine& engine, std::size_t least_vertices);

 private:
  struct Heard;
  std::shared_ptr<Heard> heard_;  // which SimGrid's signal holds too
};

}  // namespace thinwire::topologies
