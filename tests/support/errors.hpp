// Reading what an error says.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::test {

/// The text of the Error that `run` throws; anything else that it throws passes through.
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
