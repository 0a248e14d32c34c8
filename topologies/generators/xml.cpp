#include "topologies/generators/xml.hpp"

#include <fmt/format.h>

#include "topologies/generators/quantities.hpp"

namespace thinwire::topologies {

namespace {

std::string comment_safe(std::string line) {
  for (std::size_t at = line.find("--"); at != std::string::npos; at = line.find("--", at)) {
    line.insert(at + 1, " ");
  }
  return line;
}

}  // namespace

std::string cluster_xml(const std::string& id, const std::string& prefix, std::int64_t hosts,
                        const LinkFigures& cable) {
  return fmt::format(
      "    <cluster id=\"{}\" prefix=\"{}\" radical=\"0-{}\" suffix=\"\" speed=\"{}\"\n"
      "             bw=\"{}\" lat=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n",
      id, prefix, hosts - 1, kHostSpeed, bandwidth_text(cable.bandwidth), time_text(cable.latency));
}

std::string duplex_link(const std::string& name, const LinkFigures& figures) {
  return fmt::format(
      "    <link id=\"{}\" bandwidth=\"{}\" latency=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n",
      name, bandwidth_text(figures.bandwidth), time_text(figures.latency));
}

std::string platform_xml(const XmlHead& head, const std::string& body) {
  std::string text =
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";
  text += "<!--\n";
  for (const std::string& line : head.comment) {
    text += line.empty() ? "\n" : "  " + comment_safe(line) + "\n";
  }
  text += "-->\n";
  text += "<platform version=\"4.1\">\n";
  text += fmt::format("  <zone id=\"world\" routing=\"{}\">\n", head.routing);
  if (head.message_gap.value() > 0) {
    text += fmt::format("    <prop id=\"thinwire.message_gap\" value=\"{}\"/>\n",
                        time_text(head.message_gap));
  }
  for (const auto& [level, figures] : head.reducing) {
    text += fmt::format("    <prop id=\"thinwire.reducing.{}\" value=\"{} {}\"/>\n", level,
                        bandwidth_text(figures.bandwidth), time_text(figures.latency));
  }
  if (!head.topology.empty()) {
    text += fmt::format("    <prop id=\"thinwire.topology\" value=\"{}\"/>\n", head.topology);
  }
  for (const auto& [prefix, figures] : head.links) {
    text += fmt::format("    <prop id=\"thinwire.link.{}\" value=\"{} {}\"/>\n", prefix,
                        bandwidth_text(figures.bandwidth), time_text(figures.latency));
  }
  text += body;
  text += "  </zone>\n</platform>\n";
  return text;
}

}  // namespace thinwire::topologies
