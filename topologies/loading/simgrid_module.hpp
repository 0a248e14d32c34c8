// The module with all code that calls SimGrid, and its functions that load platforms.
#pragma once

#include <memory>
#include <string>

#include "sim/core/base/module.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::topologies {

inline constexpr Module kSimGrid{.name = "simgrid", .brings = "SimGrid, which loads platforms"};

struct PlatformFunctions {
  std::unique_ptr<Platform::Loaded> (*load)(const std::string& path, PlatformXml xml,
                                            const Platform::Loading& loading);
};

/// Loads the module unless it is there. A process that starts others which load platforms calls
/// this first, so that they do not load it each.
const PlatformFunctions& platform_functions();

}  // namespace thinwire::topologies
