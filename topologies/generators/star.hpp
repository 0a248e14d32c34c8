// A star: every host has one full-duplex cable to one switch that never is the bottleneck.
// With no latency and a message gap of α it is the α-β machine.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct StarParameters {
  int hosts = 64;
  LinkFigures cable{10e9, Seconds(0)};
  Seconds message_gap;
  /// Hosts, a router and cables in one zone: the only form that SimGrid's ns-3 takes. The same to
  /// flows, but routes are found by Floyd's algorithm, at the cube of the hosts.
  bool flat = false;
};

/// Hosts host-0, host-1 ... Throws InputError for parameters that make no platform.
[[nodiscard]] std::string star_xml(const StarParameters& parameters,
                                   const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& star_parameters();
[[nodiscard]] std::string star_xml(const Settings& settings,
                                   const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
