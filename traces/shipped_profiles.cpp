#include "traces/shipped_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "sim/core/errors.hpp"
#include "sim/core/nearest.hpp"

namespace thinwire {

namespace {

namespace fs = std::filesystem;

/// Where the JSON files are: in the source tree, and where `install` puts them.
constexpr std::array kFolders{THINWIRE_PROFILES_SOURCE, THINWIRE_PROFILES_INSTALLED};

/// Holds no profile where neither folder is there.
fs::path folder() {
  for (const char* candidate : kFolders) {
    std::error_code ignored;
    if (fs::is_directory(candidate, ignored)) return candidate;
  }
  return {};
}

}  // namespace

std::vector<std::string> shipped_profiles() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder(), ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string profile_file(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) {
    return name_or_path;
  }
  const std::vector<std::string> names = shipped_profiles();
  if (std::ranges::find(names, name_or_path) == names.end()) {
    throw InputError(fmt::format("unknown profile '{}'{}; a file's name ends in .json or has a '/'",
                                 name_or_path, did_you_mean(name_or_path, names)));
  }
  return (folder() / (name_or_path + ".json")).string();
}

}  // namespace thinwire
