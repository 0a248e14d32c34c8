// Finds the files that come with Thinwire and need no path: platforms, traces, profiles.
#pragma once

#include <string>
#include <vector>

namespace thinwire::inline base {

/// The folders where one kind of shipped file may be, in the order of the search: the folder that
/// the environment variable THINWIRE_SHARE names, the one beside the running program
/// (../share/thinwire, so that an installation may be moved), the one that set_share() named, the
/// source tree, and the configured installation folder. `in_source` is a path relative to the root
/// of the source tree, `in_share` one to share/thinwire.
[[nodiscard]] std::vector<std::string> shipped_folders(const std::string& in_source,
                                                       const std::string& in_share);

/// Sets the share/thinwire folder of the package that a user's program was built with, or that this
/// code is a library of; empty: none.
void set_share(const std::string& folder);

/// One kind of shipped file.
struct ShippedFiles {
  std::string what;                  ///< "platform"
  std::string extension;             ///< ".xml"
  std::vector<std::string> folders;  ///< shipped_folders(...)

  /// The names without extension, sorted, of the first folder that exists.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the path of a file. A text that has a '/' or ends in the extension is a path and is
  /// returned unchanged; any other text is a name. Throws InputError with the nearest name.
  [[nodiscard]] std::string file(const std::string& name_or_path) const;
};

}  // namespace thinwire::inline base
