#pragma once

#include <string>
#include <vector>

namespace thinwire::inline base {

/// Splits a text at its commas, or at another character; a text without any, even an empty one, is
/// one part.
[[nodiscard]] inline std::vector<std::string> split(const std::string& text, char separator = ',') {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace thinwire::inline base
