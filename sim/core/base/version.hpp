// Which Thinwire this is: results carry it.
#pragma once

#include <string>

namespace thinwire::inline base {

/// "0.1.0+g1a2b3c4", with "-dirty" where the tree had changes, or "0.1.0" where neither git nor a
/// tarball of its says which commit it is. Of a program that builds on Thinwire:
/// "0.1.0+g1a2b3c4 with own_scheme 1.0".
[[nodiscard]] std::string version();
/// Built from a tree with uncommitted changes or of an unknown commit, or by a program that gives
/// no version of its own, so that the version does not tell what it does.
[[nodiscard]] bool version_is_uncertain();
/// What a program that builds on Thinwire is called; `version` may be empty. From then on both
/// functions above tell of it, so that its results are not taken for Thinwire's.
void set_own_program(const std::string& name, const std::string& version);

}  // namespace thinwire::inline base
