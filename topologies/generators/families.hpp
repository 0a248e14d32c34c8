// The descriptions of the families, which family.hpp puts together. The file of each has its
// parameters with their defaults, and says what its hosts are called.
#pragma once

#include "topologies/generators/family.hpp"

namespace thinwire::topologies {

[[nodiscard]] Family star_family();
[[nodiscard]] Family fat_tree_family();
[[nodiscard]] Family dragonfly_family();
[[nodiscard]] Family dragonfly_plus_family();
[[nodiscard]] Family nvlink_ib_family();
[[nodiscard]] Family rails_family();
[[nodiscard]] Family torus_family();

}  // namespace thinwire::topologies
