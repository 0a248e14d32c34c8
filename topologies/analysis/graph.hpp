// A platform as a graph: hosts, the junctions where links meet (switches, routers), and the links
// between them. SimGrid does not reveal the ends of links, so they are inferred from routes: on a
// route a: l1 .. lm :b the first link leaves a, each next one leaves where the one before ended,
// and the last one ends at b. The graph covers what SimGrid routes; a link that no route takes
// appears only as the opposite direction of one that a route takes.
//
// NAME_UP and NAME_DOWN are the two directions of a cable (SimGrid's SPLITDUPLEX). Any other link
// may be used in both directions, which share its bandwidth. A link that begins and ends at one
// junction is the limit of that switch itself (a cluster's backbone): the junction is then split in
// two, an entry and an exit, which the link connects.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "topologies/analysis/survey.hpp"
#include "topologies/loading/route_table.hpp"

namespace thinwire::topologies {

enum class VertexKind : std::uint8_t { host, junction };

struct GraphVertex {
  std::string name;  ///< of the host, or "switch0", "switch1" ... in the order of their first hosts
  VertexKind kind = VertexKind::junction;
  std::string node;  ///< of a host: its node
};

/// One direction of a link.
struct GraphArc {
  LinkIndex link = 0;
  double bandwidth = 0;  ///< bytes per second
  double latency_s = 0;
  bool fat_pipe = false;
};

using Graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, GraphVertex, GraphArc>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

struct PlatformGraph {
  Graph graph;
  std::vector<Vertex> vertex_of;  ///< by host
  Survey survey;
  std::vector<std::string> link_names;  ///< by link
  /// The links that are not on a route and are neither loopbacks nor weights.
  std::vector<LinkIndex> never_used;
  /// The number of times that the direction of a link on a route was ambiguous and was guessed.
  std::size_t guesses = 0;

  [[nodiscard]] std::size_t hosts() const { return vertex_of.size(); }
  [[nodiscard]] std::size_t junctions() const;
};

[[nodiscard]] PlatformGraph graph_of(const RouteTable& table, const SurveyLimits& limits = {});

}  // namespace thinwire::topologies
