// A fat tree of levels of switches: hosts under leaves, leaves under the next level, and so on.
// Each element of a level has cables to several parents; SimGrid spreads routes over them by the
// destination (D-mod-k).
//
// The oversubscription of a level is the bandwidth from below its switches over that to above:
// children / (parents of the next level x cables).
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct FatTreeParameters {
  std::vector<int> children{16, 16, 16};       ///< of a switch of each level, from the leaves up
  std::vector<double> oversubscription{2, 1};  ///< of each level but the last
  std::vector<int> cables{1, 1, 1};  ///< from each element to each of its parents, by level
  LinkFigures cable{25e9, Seconds(300e-9)};
  Seconds message_gap{0.3e-6};
};

/// Hosts host-0, host-1 ..., those of a leaf next to each other. Throws InputError for parameters
/// that make no platform.
[[nodiscard]] std::string fat_tree_xml(const FatTreeParameters& parameters,
                                       const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& fat_tree_parameters();
/// "hosts" takes the least number of children of the last level that hold so many, whatever
/// "children" says of it.
[[nodiscard]] std::string fat_tree_xml(const Settings& settings,
                                       const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
