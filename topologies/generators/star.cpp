#include "topologies/generators/star.hpp"

#include <fmt/format.h>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/quantities.hpp"

namespace thinwire::topologies {

namespace {

constexpr int kMostFlat = 1024;

std::string flat_body(const StarParameters& parameters) {
  std::string hosts;
  std::string links;
  std::string routes;
  for (int i = 0; i < parameters.hosts; ++i) {
    hosts += fmt::format("    <host id=\"host-{}\" speed=\"{}\"/>\n", i, kHostSpeed);
    links += fmt::format(
        "    <link id=\"cable-{}\" bandwidth=\"{}\" latency=\"{}\" "
        "sharing_policy=\"SPLITDUPLEX\"/>\n",
        i, bandwidth_text(parameters.cable.bandwidth), time_text(parameters.cable.latency));
    routes += fmt::format(
        "    <route src=\"host-{0}\" dst=\"switch\"><link_ctn id=\"cable-{0}\" "
        "direction=\"UP\"/></route>\n",
        i);
  }
  return hosts + "    <router id=\"switch\"/>\n" + links + routes;
}

}  // namespace

std::string star_xml(const StarParameters& parameters, const std::vector<std::string>& comment) {
  if (parameters.hosts < 1) {
    throw InputError(fmt::format("star: {} hosts make no platform", parameters.hosts));
  }
  if (parameters.flat && parameters.hosts > kMostFlat) {
    throw InputError(fmt::format(
        "star: flat: {} hosts are more than {}: SimGrid needs the cube of them to find routes",
        parameters.hosts, kMostFlat));
  }
  if (parameters.flat) {
    return platform_xml({.comment = comment,
                         .routing = "Floyd",
                         .message_gap = parameters.message_gap,
                         .links = {}},
                        flat_body(parameters));
  }
  return platform_xml({.comment = comment, .message_gap = parameters.message_gap, .links = {}},
                      cluster_xml("star", "host-", parameters.hosts, parameters.cable));
}

const std::vector<ParameterInfo>& star_parameters() {
  static const std::vector<ParameterInfo> parameters{
      {"hosts", "64", "hosts"},
      {"bandwidth", "10GBps", "of a host's cable, each way"},
      {"latency", "0s", "of a host's cable; a route has two of them"},
      {"flat", "0",
       "1: one zone of hosts, switch and cables, as run --packet needs it; for small stars"},
      {"gap", "2us", "time that a message occupies a host's port beyond its bytes"},
  };
  return parameters;
}

std::string star_xml(const Settings& settings, const std::vector<std::string>& comment) {
  return star_xml({.hosts = settings.whole("hosts"),
                   .cable = {settings.bandwidth("bandwidth"), settings.time("latency")},
                   .message_gap = settings.time("gap"),
                   .flat = settings.flag("flat")},
                  comment);
}

}  // namespace thinwire::topologies
