// Small platforms as XML texts, with figures that are easy to calculate with.
#pragma once

#include <fmt/format.h>

#include <string>

namespace thinwire::test {

/// The figures of a link in SimGrid's notation.
struct Cable {
  std::string bandwidth = "1GBps";
  std::string latency = "1us";
};

/// The XML of a platform with `body`, one zone or one cluster.
[[nodiscard]] inline std::string platform_xml(const std::string& body) {
  return "<?xml version='1.0'?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n" +
         body + "\n</platform>\n";
}

[[nodiscard]] inline std::string property(const std::string& key, const std::string& value) {
  return fmt::format("<prop id=\"{}\" value=\"{}\"/>", key, value);
}

/// Hosts h-0 ... around a switch of unlimited capacity: each has a port in both directions, and a
/// message crosses two links.
[[nodiscard]] inline std::string star_xml(int hosts, const Cable& cable = {},
                                          const std::string& properties = "") {
  return platform_xml(
      fmt::format("<zone id=\"world\" routing=\"Full\">{}\n"
                  "<cluster id=\"star\" prefix=\"h-\" radical=\"0-{}\" suffix=\"\" speed=\"1Gf\" "
                  "bw=\"{}\" lat=\"{}\" sharing_policy=\"SPLITDUPLEX\"/></zone>",
                  properties, hosts - 1, cable.bandwidth, cable.latency));
}

/// Hosts a and b on one cable, full duplex: links cable_UP and cable_DOWN.
[[nodiscard]] inline std::string two_hosts_xml(const Cable& cable = {},
                                               const std::string& properties = "") {
  return platform_xml(fmt::format(
      "<zone id=\"world\" routing=\"Full\">{}\n"
      "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n"
      "<link id=\"cable\" bandwidth=\"{}\" latency=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"cable\" direction=\"UP\"/></route></zone>",
      properties, cable.bandwidth, cable.latency));
}

/// Hosts left-0, left-1, right-0, right-1, each on its own link (port-left-0 ...); all share one
/// link, `middle`, between the sides in both directions.
[[nodiscard]] inline std::string dumbbell_xml(const Cable& port, const Cable& middle) {
  std::string hosts;
  std::string routes;
  for (const char* side : {"left", "right"}) {
    for (const int i : {0, 1}) {
      hosts += fmt::format(
          "<host id=\"{0}-{1}\" speed=\"1Gf\"/>\n"
          "<link id=\"port-{0}-{1}\" bandwidth=\"{2}\" latency=\"{3}\"/>\n",
          side, i, port.bandwidth, port.latency);
    }
    routes += fmt::format(
        "<route src=\"{0}-0\" dst=\"{0}-1\"><link_ctn id=\"port-{0}-0\"/>"
        "<link_ctn id=\"port-{0}-1\"/></route>\n",
        side);
  }
  for (const int i : {0, 1}) {
    for (const int j : {0, 1}) {
      routes += fmt::format(
          "<route src=\"left-{0}\" dst=\"right-{1}\"><link_ctn id=\"port-left-{0}\"/>"
          "<link_ctn id=\"middle\"/><link_ctn id=\"port-right-{1}\"/></route>\n",
          i, j);
    }
  }
  return platform_xml(
      fmt::format("<zone id=\"world\" routing=\"Full\">\n{}"
                  "<link id=\"middle\" bandwidth=\"{}\" latency=\"{}\"/>\n{}</zone>",
                  hosts, middle.bandwidth, middle.latency, routes));
}

}  // namespace thinwire::test
