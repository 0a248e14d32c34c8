// A star: every host has one full-duplex cable to a switch that is never the bottleneck. With zero
// latency and a message gap of α it is the α-β machine. Small clusters of several switches chain
// them: each has an equal block of the hosts and a cable to the next switch.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/reducing.hpp"
#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct StarParameters {
  int hosts = 64;
  LinkFigures cable{10e9, Seconds(0)};
  Seconds message_gap;
  ReducingFigures reducing = {};  ///< its switches that sum
  /// Puts hosts, a router and cables in one zone: the only form that SimGrid's ns-3 accepts. Flows
  /// do not change, but Floyd's algorithm finds the routes, in time cubic in the hosts.
  bool flat = false;
  int switches = 1;   ///< several only if flat
  double uplink = 0;  ///< bytes per second of a cable between switches; it has the cable's latency
};

/// Numbers hosts host-0, host-1, ... Throws InputError for parameters that define no platform.
[[nodiscard]] std::string star_xml(const StarParameters& parameters,
                                   const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& star_parameters();
[[nodiscard]] std::string star_xml(const Settings& settings,
                                   const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
