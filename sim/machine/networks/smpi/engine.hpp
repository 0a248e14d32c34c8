// The configuration of SimGrid's engine, of which a process has only one.
#pragma once

#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::networks {

/// Chooses how SimGrid switches between actors. To be called before the engine is created. Returns
/// `settings`.
[[nodiscard]] const SmpiSettings& with_contexts(const SmpiSettings& settings);

/// Configures SMPI. To be called after the engine is created and before the platform is loaded.
void configure_smpi(const SmpiSettings& settings);

}  // namespace thinwire::networks
