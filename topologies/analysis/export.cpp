#include "topologies/analysis/export.hpp"

#include <fmt/format.h>

#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <ostream>
#include <sstream>

#include "topologies/generators/quantities.hpp"

namespace thinwire::topologies {

namespace {

using Arc = boost::graph_traits<Graph>::edge_descriptor;

/// Escapes a text for double quotes in Graphviz.
std::string quoted(const std::string& text) { return boost::escape_dot_string(text); }

const char* kind_text(VertexKind kind) { return kind == VertexKind::host ? "host" : "junction"; }

}  // namespace

std::string to_dot(const PlatformGraph& platform) {
  const Graph& graph = platform.graph;
  std::ostringstream text;
  boost::write_graphviz(
      text, graph,
      [&](std::ostream& out, Vertex vertex) {
        out << "[label=" << quoted(graph[vertex].name)
            << ", shape=" << (graph[vertex].kind == VertexKind::host ? "box" : "ellipse") << "]";
      },
      [&](std::ostream& out, Arc arc) {
        const GraphArc& figures = graph[arc];
        out << "[label="
            << quoted(fmt::format("{} {}", bandwidth_text(figures.bandwidth),
                                  time_text(Seconds(figures.latency_s))))
            << ", tooltip=" << quoted(platform.link_names[figures.link])
            << (figures.fat_pipe ? ", style=dashed]" : "]");
      });
  return text.str();
}

std::string to_graphml(const PlatformGraph& platform) {
  const Graph& graph = platform.graph;
  const auto of_vertex = [&](auto read) {
    return boost::make_function_property_map<Vertex>(
        [&graph, read](Vertex vertex) -> std::string { return read(graph[vertex]); });
  };
  boost::dynamic_properties properties;
  properties.property("name", of_vertex([](const GraphVertex& v) { return v.name; }));
  properties.property("kind", of_vertex([](const GraphVertex& v) { return kind_text(v.kind); }));
  properties.property("node", of_vertex([](const GraphVertex& v) { return v.node; }));
  properties.property("link", boost::make_function_property_map<Arc>([&](Arc arc) -> std::string {
                        return platform.link_names[graph[arc].link];
                      }));
  properties.property("bandwidth_Bps",
                      boost::make_function_property_map<Arc>(
                          [&](Arc arc) -> double { return graph[arc].bandwidth; }));
  properties.property("latency_s", boost::make_function_property_map<Arc>(
                                       [&](Arc arc) -> double { return graph[arc].latency_s; }));
  properties.property("fat_pipe", boost::make_function_property_map<Arc>(
                                      [&](Arc arc) -> bool { return graph[arc].fat_pipe; }));
  std::ostringstream text;
  boost::write_graphml(text, graph, properties, true);
  return text.str();
}

}  // namespace thinwire::topologies
