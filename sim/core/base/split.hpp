#pragma once

#include <string>
#include <vector>

namespace thinwire::inline base {

/// Splits a text at its commas; a text without commas, even an empty one, is one part.
[[nodiscard]] inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace thinwire::inline base
