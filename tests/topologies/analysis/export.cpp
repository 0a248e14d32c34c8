#include "topologies/analysis/export.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/network.hpp"

namespace thinwire::topologies {

namespace {

using test::Network;

/// What a command prints, or nothing where it fails.
std::string output_of(const std::string& command) {
  const test::TemporaryFolder folder;
  if (std::system((command + " >" + folder.path("out") + " 2>/dev/null").c_str()) != 0) return {};
  std::ifstream file(folder.path("out"));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::ptrdiff_t count(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Names that a format has to quote.
PlatformGraph awkward() {
  Network network(3, 1, {{0, 3}, {1, 3}, {2, 3, false, 2.5e9, 0}});
  network.links().back().name = "say \"<&>\" \\ö";
  network.links().back().fat_pipe = true;
  return graph_of(network.table());
}

}  // namespace

TEST_CASE("Graphviz reads the graph as it is") {
  const std::string dot = to_dot(awkward());
  CHECK(dot.find("label=\"1GBps 1us\"") != std::string::npos);
  CHECK(dot.find("label=h0, shape=box") != std::string::npos);
  if (output_of("command -v dot").empty()) {
    MESSAGE("skipped: Graphviz is not installed");
    return;
  }
  const test::TemporaryFolder folder;
  const std::string plain = output_of("dot -Tplain " + folder.write("g.dot", dot));
  CHECK(count(plain, "\nnode ") == 4);
  CHECK(count(plain, "\nedge ") == 6);
}

TEST_CASE("an XML parser reads the GraphML with every name and figure") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("g.graphml", to_graphml(awkward()));
  if (output_of("command -v python3").empty()) {
    MESSAGE("skipped: python3 is not installed");
    return;
  }
  const std::string script = folder.write("read.py", R"(
import sys, xml.etree.ElementTree as tree
space = '{http://graphml.graphdrawing.org/xmlns}'
root = tree.parse(sys.argv[1]).getroot()
keys = {key.get('id'): key.get('attr.name') for key in root.iter(space + 'key')}
def figures(kind):
    return [{keys[data.get('key')]: data.text for data in item.iter(space + 'data')}
            for item in root.iter(space + kind)]
nodes, edges = figures('node'), figures('edge')
fat = [e for e in edges if e['fat_pipe'] in ('1', 'true')]
print(len(nodes), len(edges), sorted(n['name'] for n in nodes), [n['kind'] for n in nodes])
print(len(fat), ascii(fat[0]['link']), float(fat[0]['bandwidth_Bps']), float(fat[0]['latency_s']))
)");
  CHECK(output_of("python3 " + script + " " + path) ==
        "4 6 ['h0', 'h1', 'h2', 'switch0'] ['host', 'host', 'host', 'junction']\n"
        "2 'say \"<&>\" \\\\\\xf6' 2500000000.0 0.0\n");
}

TEST_CASE("a graph without vertices can be exported") {
  const PlatformGraph empty = graph_of(Network(0, 0, {}).table());
  CHECK(to_dot(empty).find("digraph") != std::string::npos);
  CHECK(to_graphml(empty).find("</graphml>") != std::string::npos);
}

}  // namespace thinwire::topologies
