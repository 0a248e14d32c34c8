#include "sim/core/base/shipped_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "sim/core/base/code_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::inline base {

namespace {

namespace fs = std::filesystem;

std::string& package_share() {
  static std::string folder;
  return folder;
}

std::vector<fs::path> possible_folders(const ShippedFiles& files) {
  std::vector<fs::path> folders;
  for (const std::string& share : share_folders())
    folders.push_back(fs::path(share) / files.in_share);
  folders.push_back(fs::path(THINWIRE_SOURCE_TREE) / files.in_source);
  folders.push_back(fs::path(THINWIRE_SHARE) / files.in_share);
  return folders;
}

/// The first folder that exists; an empty path, which holds no file, when none does.
fs::path folder_of(const ShippedFiles& files) {
  const std::vector<fs::path> folders = possible_folders(files);
  const auto found = std::ranges::find_if(folders, [](const fs::path& folder) {
    std::error_code ignored;
    return fs::is_directory(folder, ignored);
  });
  return found == folders.end() ? fs::path() : *found;
}

}  // namespace

void set_share(const std::string& folder) { package_share() = folder; }

std::vector<std::string> share_folders() {
  std::vector<std::string> folders;
  if (const char* share = std::getenv("THINWIRE_SHARE"); share != nullptr && *share != '\0') {
    folders.emplace_back(share);
  }
  const fs::path program = is_loaded_library() ? std::string() : code_file();
  if (!program.empty()) {
    const fs::path share = program.parent_path() / THINWIRE_SHARE_FROM_PROGRAM;
    folders.push_back(share.lexically_normal().string());
  }
  if (!package_share().empty()) folders.push_back(package_share());
  return folders;
}

std::vector<std::string> ShippedFiles::names() const {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(*this), ignored)) {
    if (entry.path().extension() == extension) found.push_back(entry.path().stem().string());
  }
  std::ranges::sort(found);
  return found;
}

std::string ShippedFiles::file(const std::string& name_or_path) const {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(extension)) {
    return name_or_path;
  }
  const std::vector<std::string> known = names();
  if (std::ranges::find(known, name_or_path) == known.end()) {
    throw InputError("unknown {} '{}'{} (the name of a file ends in {} or has a '/')", what,
                     excerpt(name_or_path), did_you_mean(name_or_path, known), extension);
  }
  return (folder_of(*this) / (name_or_path + extension)).string();
}

}  // namespace thinwire::inline base
