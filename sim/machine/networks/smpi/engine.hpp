// The configuration of SimGrid's engine, of which there is one in a process.
#pragma once

#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::networks {

/// Chooses how SimGrid switches between actors. To be called before the engine is made: it has no
/// effect after that. Returns the settings.
[[nodiscard]] const SmpiSettings& with_contexts(const SmpiSettings& settings);

/// Configures SMPI once there is an engine, and before the platform is loaded.
void configure_smpi(const SmpiSettings& settings);

}  // namespace thinwire::networks
