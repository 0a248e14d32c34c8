// The version of Thinwire, which results carry.
#pragma once

#include <string>

namespace thinwire::inline base {

/// Returns "1.0.0+g1a2b3c4", with "-dirty" when the tree had uncommitted changes, or "1.0.0" when
/// neither git nor a git archive names the commit. For a program that builds on Thinwire:
/// "1.0.0+g1a2b3c4 with own_scheme 1.0".
[[nodiscard]] std::string version();
/// The same without a program that builds on Thinwire.
[[nodiscard]] const char* built_version();
/// True when the version does not identify the code: built from a tree with uncommitted changes or
/// from an unknown commit, or by a program that gives no version of its own.
[[nodiscard]] bool version_is_uncertain();
/// Names a program that builds on Thinwire; `version` may be empty. Both functions above then
/// include it, so that its results are not taken for Thinwire's.
void set_own_program(const std::string& name, const std::string& version);

}  // namespace thinwire::inline base
