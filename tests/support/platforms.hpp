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

/// Four switches of four hosts h-0 ... each, and four switches above them, by the last of which the
/// host's number modulo 4 is reached: as many cables go up from a switch as hosts hang on it, and no
/// shift of all hosts meets itself. The latency is the ports', alike for all pairs.
[[nodiscard]] inline std::string full_bisection_xml(const Cable& cable,
                                                    const std::string& property) {
  std::string links;
  std::string routes;
  const auto link = [&](const std::string& name, const std::string& latency) {
    links += fmt::format(
        "<link id=\"{}\" bandwidth=\"{}\" latency=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n", name,
        cable.bandwidth, latency);
  };
  const auto over = [](const std::string& name, const char* direction) {
    return fmt::format("<link_ctn id=\"{}\" direction=\"{}\"/>", name, direction);
  };
  for (int from = 0; from < 16; ++from) {
    links += fmt::format("<host id=\"h-{}\" speed=\"1Gf\"/>\n", from);
    link(fmt::format("port-{}", from), cable.latency);
    link(fmt::format("cable-{}-{}", from / 4, from % 4), "0");
    for (int to = 0; to < 16; ++to) {
      if (from == to) continue;
      std::string above;
      if (from / 4 != to / 4) {
        above = over(fmt::format("cable-{}-{}", from / 4, to % 4), "UP") +
                over(fmt::format("cable-{}-{}", to / 4, to % 4), "DOWN");
      }
      routes += fmt::format("<route src=\"h-{}\" dst=\"h-{}\" symmetrical=\"NO\">{}{}{}</route>\n",
                            from, to, over(fmt::format("port-{}", from), "UP"), above,
                            over(fmt::format("port-{}", to), "DOWN"));
    }
  }
  return platform_xml("<zone id=\"world\" routing=\"Full\">" + property + links + routes +
                      "</zone>");
}

}  // namespace thinwire::test
