#include "topologies/generators/star.hpp"

#include <fmt/format.h>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/quantities.hpp"
#include "topologies/generators/reducing.hpp"

namespace thinwire::topologies {

namespace {

constexpr int kMostFlat = 1024;

std::string duplex_link(const std::string& name, double bandwidth, Seconds latency) {
  return fmt::format(
      "    <link id=\"{}\" bandwidth=\"{}\" latency=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n",
      name, bandwidth_text(bandwidth), time_text(latency));
}

std::string one_link_route(const std::string& from, const std::string& to,
                           const std::string& link) {
  return fmt::format(
      "    <route src=\"{}\" dst=\"{}\"><link_ctn id=\"{}\" direction=\"UP\"/></route>\n", from, to,
      link);
}

std::string flat_body(const StarParameters& p) {
  const auto switch_name = [&](int index) {
    return p.switches == 1 ? "switch" : fmt::format("switch-{}", index);
  };
  std::string hosts;
  std::string links;
  std::string routes;
  for (int i = 0; i < p.hosts; ++i) {
    const std::string host = fmt::format("host-{}", i);
    const std::string cable = fmt::format("cable-{}", i);
    hosts += fmt::format("    <host id=\"{}\" speed=\"{}\"/>\n", host, kHostSpeed);
    links += duplex_link(cable, p.cable.bandwidth, p.cable.latency);
    routes += one_link_route(host, switch_name(i * p.switches / p.hosts), cable);
  }
  for (int i = 0; i < p.switches; ++i) {
    hosts += fmt::format("    <router id=\"{}\"/>\n", switch_name(i));
    if (i == 0) continue;
    const std::string uplink = fmt::format("uplink-{}", i - 1);
    links += duplex_link(uplink, p.uplink, p.cable.latency);
    routes += one_link_route(switch_name(i - 1), switch_name(i), uplink);
  }
  return hosts + links + routes;
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
  if (parameters.hosts % parameters.switches != 0) {
    throw InputError(fmt::format("star: {} switches cannot share {} hosts evenly",
                                 parameters.switches, parameters.hosts));
  }
  if (parameters.switches > 1 && !parameters.flat) {
    throw InputError("star: several switches are one zone of hosts and switches; give flat=1");
  }
  if (parameters.flat) {
    return platform_xml({.comment = comment,
                         .routing = "Floyd",
                         .message_gap = parameters.message_gap,
                         .reducing = parameters.reducing,
                         .links = {}},
                        flat_body(parameters));
  }
  return platform_xml({.comment = comment,
                       .message_gap = parameters.message_gap,
                       .reducing = parameters.reducing,
                       .links = {}},
                      cluster_xml("star", "host-", parameters.hosts, parameters.cable));
}

const std::vector<ParameterInfo>& star_parameters() {
  static const std::vector<ParameterInfo> parameters = [] {
    std::vector<ParameterInfo> all{
        {"hosts", "64", "hosts"},
        {"bandwidth", "10GBps", "of a host's cable, each way"},
        {"latency", "0s", "of a host's cable; a route has two of them"},
        {"flat", "0",
         "1: one zone of hosts, switch and cables, as run --packet needs it; for small stars"},
        {"switches", "",
         "switches in a row, each with an equal block of the hosts, needs flat [1]"},
        {"uplink", "",
         "bandwidth of a cable between two switches, each way, with several switches"},
        {"gap", "2us", "time that a message occupies a host's port beyond its bytes"},
    };
    add_reducing_parameters(all, false);
    return all;
  }();
  return parameters;
}

std::string star_xml(const Settings& settings, const std::vector<std::string>& comment) {
  StarParameters p{.hosts = settings.whole("hosts"),
                   .cable = {settings.bandwidth("bandwidth"), settings.time("latency")},
                   .message_gap = settings.time("gap"),
                   .flat = settings.flag("flat"),
                   .switches = settings.optional_whole("switches").value_or(1)};
  if (p.switches > 1) {
    if (settings.text("uplink").empty()) {
      throw InputError(settings.refusal(
          "uplink", fmt::format("the bandwidth of a cable between two of {} switches, as in 10GBps",
                                p.switches)));
    }
    p.uplink = settings.bandwidth("uplink");
  } else if (!settings.text("uplink").empty()) {
    throw InputError(settings.refusal("uplink", "nothing, since one switch has no uplink"));
  }
  p.reducing = reducing_figures(settings, 0, p.cable.bandwidth);
  return star_xml(p, comment);
}

}  // namespace thinwire::topologies
