// The parameters of families whose switches may sum what passes through them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

/// The figures of switches that sum, by level: "node", "network". Properties of the platform, see
/// loading/platform.hpp.
using ReducingFigures = std::vector<std::pair<std::string, LinkFigures>>;

/// Adds the parameters to a family's parameters; `nodes` says whether its nodes have switches.
void add_reducing_parameters(std::vector<ParameterInfo>& parameters, bool nodes);
/// What they say. `of_node` and `of_network` are the bandwidths of a host's links to the switch of its
/// node and to the network.
[[nodiscard]] ReducingFigures reducing_figures(const Settings& settings, double of_node,
                                               double of_network);

}  // namespace thinwire::topologies
