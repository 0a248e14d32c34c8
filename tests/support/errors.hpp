// Captures the text of an error.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::test {

/// Returns the text of the Error that `run` throws; other exceptions propagate.
template <class Error, class Run>
[[nodiscard]] std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace thinwire::test
