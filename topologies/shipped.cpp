#include "topologies/shipped.hpp"

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

/// Where the XML files are: in the source tree, and where `install` puts them.
constexpr std::array kFolders{THINWIRE_PLATFORMS_SOURCE, THINWIRE_PLATFORMS_INSTALLED};

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".xml");
}

/// Holds no platform where neither folder is there.
fs::path folder() {
  for (const char* candidate : kFolders) {
    std::error_code ignored;
    if (fs::is_directory(candidate, ignored)) return candidate;
  }
  return {};
}

}  // namespace

std::vector<std::string> shipped_platforms() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder(), ignored)) {
    if (entry.path().extension() == ".xml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string platform_file(const std::string& name_or_path) {
  if (is_path(name_or_path)) return name_or_path;
  const std::vector<std::string> names = shipped_platforms();
  if (std::ranges::find(names, name_or_path) == names.end()) {
    throw InputError(fmt::format("unknown platform '{}'{}; a file's name ends in .xml or has a '/'",
                                 name_or_path, did_you_mean(name_or_path, names)));
  }
  return (folder() / (name_or_path + ".xml")).string();
}

}  // namespace thinwire
