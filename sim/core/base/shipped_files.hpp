// Finds the files that come with Thinwire and need no path: platforms, traces, profiles.
#pragma once

#include <string>
#include <vector>

namespace thinwire::inline base {

/// Sets the share/thinwire folder of the package that a user's program was built with, or that this
/// code is a library of; empty: none.
void set_share(const std::string& folder);

/// The share/thinwire folders that may exist: the one that the environment variable THINWIRE_SHARE
/// names, the one beside the running program (../share/thinwire, so that an installation may be
/// moved), and the one that set_share() named.
[[nodiscard]] std::vector<std::string> share_folders();

/// One kind of shipped file. Its files are in the first folder that exists among share_folders(),
/// the source tree, and the configured installation folder.
struct ShippedFiles {
  const char* what;       ///< "platform"
  const char* extension;  ///< ".xml"
  const char* in_source;  ///< path relative to the root of the source tree
  const char* in_share;   ///< path relative to share/thinwire

  /// The names without extension, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the path of a file. A text that has a '/' or ends in the extension is a path and is
  /// returned unchanged; any other text is a name. Throws InputError with the nearest name.
  [[nodiscard]] std::string file(const std::string& name_or_path) const;
};

}  // namespace thinwire::inline base
