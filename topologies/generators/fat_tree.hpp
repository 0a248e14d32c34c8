// A fat tree with levels of switches: hosts under leaves, leaves under the next level, and so on.
// Each element of a level has cables to several parents; SimGrid selects among them by destination
// (D-mod-k).
//
// The oversubscription of a level is the ratio of its switches' downward to upward bandwidth:
// children / (parents of the next level x cables).
#pragma once

#include <string>
#include <vector>

#include "topologies/generators/reducing.hpp"
#include "topologies/generators/settings.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

struct FatTreeParameters {
  std::vector<int> children{16, 16, 16};       ///< per switch of each level, from the leaves up
  std::vector<double> oversubscription{2, 1};  ///< per level except the last
  std::vector<int> cables{1, 1, 1};  ///< from each element to each of its parents, by level
  LinkFigures cable{25e9, Seconds(300e-9)};
  Seconds message_gap{0.3e-6};
  ReducingFigures reducing = {};  ///< its switches that sum
};

/// Numbers hosts host-0, host-1, ... leaf by leaf. Throws InputError for parameters that define no
/// platform.
[[nodiscard]] std::string fat_tree_xml(const FatTreeParameters& parameters,
                                       const std::vector<std::string>& comment);

[[nodiscard]] const std::vector<ParameterInfo>& fat_tree_parameters();
/// "hosts" selects the smallest sufficient number of children of the last level, which overrides
/// "children".
[[nodiscard]] std::string fat_tree_xml(const Settings& settings,
                                       const std::vector<std::string>& comment);

}  // namespace thinwire::topologies
