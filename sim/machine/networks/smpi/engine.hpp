// The configuration of SimGrid's engine, of which a process has only one.
#pragma once

#include <string>

#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::networks {

/// Chooses how SimGrid switches between actors. To be called before the engine is created.
void choose_contexts();

/// Configures SMPI. To be called after the engine is created and before the platform is loaded.
void configure_smpi(const SmpiSettings& settings);

/// The version of the loaded library, as in "3.32.0".
[[nodiscard]] std::string version_of_simgrid();

}  // namespace thinwire::networks
