// A Dragonfly+ (Shpiner et al., HiPINEB 2017), also called Megafly: cells of leaf switches with the
// hosts and of spine switches, where every leaf has a link to every spine of its cell, and cables
// between the spines of any two cells.
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct DragonflyPlusParameters {
  int cells = 20;
  int leaves = 18;         ///< leaf switches of a cell
  int spines = 18;         ///< spine switches of a cell
  int nodes = 10;          ///< hosts of a leaf
  int uplinks = 1;         ///< cables between a leaf and a spine; their bandwidths add up
  int global_cables = 18;  ///< between two cells, each a link of its own
  LinkFigures host{50e9, Seconds(300e-9)};
  LinkFigures uplink{25e9, Seconds(150e-9)};
  LinkFigures global{25e9, Seconds(250e-9)};
  Seconds message_gap{0.3e-6};
};

/// Numbers hosts nid-0, nid-1, ... leaf by leaf, cell by cell. Throws InputError for parameters that
/// define no platform.
[[nodiscard]] std::string dragonfly_plus_xml(const DragonflyPlusParameters& parameters,
                                             const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& dragonfly_plus_parameters();
/// "hosts" selects the smallest sufficient number of cells.
[[nodiscard]] std::string dragonfly_plus_xml(const Settings& settings,
                                             const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
