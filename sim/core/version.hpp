// Which Thinwire this is: results carry it.
#pragma once

#include <string>

namespace thinwire {

/// "0.1.0+g1a2b3c4", with "-dirty" where the tree had changes, or "0.1.0" outside a git checkout.
[[nodiscard]] std::string version();
/// Built from a tree with uncommitted changes, or outside a git checkout, so that the version does
/// not tell what it does.
[[nodiscard]] bool version_is_uncertain();

}  // namespace thinwire
