// Files that come with Thinwire and need no path: platforms, traces, profiles.
#pragma once

#include <string>
#include <vector>

namespace thinwire {

struct ShippedFiles {
  std::string what;                  ///< "platform"
  std::string extension;             ///< ".xml"
  std::vector<std::string> folders;  ///< in the source tree, and where `install` puts them

  /// Names without extension, sorted, of the first folder that is there.
  [[nodiscard]] std::vector<std::string> names() const;
  /// A text with a '/' or that ends in the extension is a path and comes back as it is, any other
  /// is a name. Throws InputError with the nearest name.
  [[nodiscard]] std::string file(const std::string& name_or_path) const;
};

}  // namespace thinwire
