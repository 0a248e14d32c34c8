// A star: every host has one full-duplex cable to a switch that is never the bottleneck. With zero
// latency and a message gap of α it is the α-β machine. Small clusters of several switches chain
// them: each has an equal block of the hosts and a cable to the next switch, with the latency of a
// host's cable. Hosts are host-0, host-1, ...
//
// A flat star has hosts, routers and cables in one zone: the only form that SimGrid's ns-3 accepts.
// Flows do not change, but Floyd's algorithm finds the routes, in time cubic in the hosts.
#include <fmt/format.h>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/families.hpp"
#include "topologies/generators/quantities.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/reducing.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

std::string one_link_route(const std::string& from, const std::string& to,
                           const std::string& link) {
  return fmt::format(
      "    <route src=\"{}\" dst=\"{}\"><link_ctn id=\"{}\" direction=\"UP\"/></route>\n", from, to,
      link);
}

std::string flat_star(int hosts, int switches, const LinkFigures& cable, double uplink) {
  const auto switch_name = [&](int index) {
    return switches == 1 ? "switch" : fmt::format("switch-{}", index);
  };
  std::string points;
  std::string links;
  std::string routes;
  for (int i = 0; i < hosts; ++i) {
    const std::string host = fmt::format("host-{}", i);
    const std::string own = fmt::format("cable-{}", i);
    points += fmt::format("    <host id=\"{}\" speed=\"{}\"/>\n", host, kHostSpeed);
    links += duplex_link(own, cable);
    routes += one_link_route(host, switch_name(i * switches / hosts), own);
  }
  for (int i = 0; i < switches; ++i) {
    points += fmt::format("    <router id=\"{}\"/>\n", switch_name(i));
    if (i == 0) continue;
    const std::string next = fmt::format("uplink-{}", i - 1);
    links += duplex_link(next, {uplink, cable.latency});
    routes += one_link_route(switch_name(i - 1), switch_name(i), next);
  }
  return points + links + routes;
}

/// The bytes per second of a cable between two switches; 0 where there is one switch.
double uplink_of(const Settings& settings, int switches) {
  const bool given = !settings.text("uplink").empty();
  if (switches > 1 && !given) {
    throw InputError(settings.refusal(
        "uplink", fmt::format("the bandwidth of a cable between two of {} switches, as in 10GBps",
                              switches)));
  }
  if (switches == 1 && given) {
    throw InputError(settings.refusal("uplink", "nothing, since one switch has no uplink"));
  }
  return given ? settings.bandwidth("uplink") : 0;
}

std::string star_xml(const Settings& settings, const std::vector<std::string>& comment) {
  constexpr int kMostFlat = 1024;
  const int hosts = settings.whole("hosts");
  const bool flat = settings.flag("flat");
  const int switches = settings.optional_whole("switches").value_or(1);
  const LinkFigures cable = settings.figures("");
  const double uplink = uplink_of(settings, switches);
  if (flat && hosts > kMostFlat) {
    throw InputError(
        "star: flat: {} hosts are more than {}: SimGrid needs the cube of them to find routes",
        hosts, kMostFlat);
  }
  if (hosts % switches != 0) {
    throw InputError("star: {} switches cannot share {} hosts evenly", switches, hosts);
  }
  if (switches > 1 && !flat) {
    throw InputError("star: several switches need hosts and switches in one zone; give flat=1");
  }
  return platform_xml({.comment = comment,
                       .routing = flat ? "Floyd" : "Full",
                       .message_gap = settings.time("gap"),
                       .reducing = reducing_figures(settings, 0, cable.bandwidth),
                       .links = {}},
                      flat ? flat_star(hosts, switches, cable, uplink)
                           : cluster_xml("star", "host-", hosts, cable));
}

void star_words(CommonWords& words) {
  const auto racks = words.take_racks();
  const bool oversubscribed = words.has("oversubscription");
  if (oversubscribed && !(racks && racks->racks > 1)) {
    throw InputError("star: oversubscription: one switch has no cables to others; give racks");
  }
  if (!racks) return;
  words.set("hosts", racks->racks * racks->hosts);
  if (racks->racks == 1) return;
  const Settings asked = words.settings();
  const double over = oversubscribed ? asked.above_0("oversubscription") : 1;
  words.set("flat", 1);
  words.set("switches", racks->racks);
  words.set("uplink", bandwidth_text(racks->hosts * asked.bandwidth("bandwidth") / over));
  words.spread("oversubscription", {});
}

}  // namespace

Family star_family() {
  Family family{
      "star",
      {"one_switch", "single_switch"},
      "every host on one switch, or on a row of them; with no latency the alpha-beta machine",
      {{"hosts", "64", "hosts"},
       {"oversubscription", "",
        "bandwidth of a rack's hosts over the bandwidth of the cable to the next rack, with racks "
        "[1]"},
       {"bandwidth", "10GBps", "of a host's cable, each way"},
       {"latency", "0s", "of a host's cable; a route has two of them"},
       {"flat", "0",
        "1: one zone of hosts, switch and cables, as run --packet needs it; for small stars"},
       {"switches", "", "switches in a row, each with an equal block of the hosts, needs flat [1]"},
       {"uplink", "", "bandwidth of a cable between two switches, each way, with several switches"},
       {"gap", "2us", "fixed time of each message on a host's port, beside the time of its bytes"}},
      "",
      &star_xml,
      &star_words};
  add_racks(family.parameters, "switches in a row, each with as many hosts");
  add_reducing_parameters(family.parameters, false);
  return family;
}

}  // namespace thinwire::topologies
