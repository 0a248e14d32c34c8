// The platforms that are shipped, by the files of their folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace thinwire::test {

/// Names of the files of platforms/, sorted.
[[nodiscard]] inline std::vector<std::string> platforms_in_folder() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(THINWIRE_SOURCE_DIR "/platforms")) {
    if (file.path().extension() == ".xml") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace thinwire::test
