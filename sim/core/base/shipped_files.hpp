// Files that come with Thinwire and need no path: platforms, traces, profiles.
#pragma once

#include <string>
#include <vector>

namespace thinwire::inline base {

/// Where one kind of shipped file may be, in the order of looking: in the folder that the
/// environment's THINWIRE_SHARE names, beside the running program (../share/thinwire, so that an
/// installation may be moved), in the one that was set, in the source tree, and where Thinwire was
/// told to be installed.
/// `in_source` is a path from the root of the source tree, `in_share` one from share/thinwire.
[[nodiscard]] std::vector<std::string> shipped_folders(const std::string& in_source,
                                                       const std::string& in_share);

/// Sets the share/thinwire that a program of one's own looks into: that of the package with which
/// it was built. Empty: none.
void set_share(const std::string& folder);

/// One kind of shipped file.
struct ShippedFiles {
  std::string what;                  ///< "platform"
  std::string extension;             ///< ".xml"
  std::vector<std::string> folders;  ///< shipped_folders(...)

  /// Names without extension, sorted, of the first folder that is there.
  [[nodiscard]] std::vector<std::string> names() const;
  /// A text with a '/' or that ends in the extension is a path and comes back as it is, any other
  /// is a name. Throws InputError with the nearest name.
  [[nodiscard]] std::string file(const std::string& name_or_path) const;
};

}  // namespace thinwire::inline base
