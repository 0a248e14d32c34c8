// Shows the place in a file that an error is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thinwire::cli {

/// Where in the text of a JSON document, which may have comments, the value of a JSON pointer begins,
/// or its key; npos if it has no such value.
[[nodiscard]] std::size_t place_of(std::string_view json, std::string_view pointer, bool key);

/// The line of the file that an error names, with its number, and a caret below the place: of
/// "FILE:LINE: ...", "FILE:LINE:COLUMN: ...", "FILE: POINTER: ..." of JSON, and of "FILE.xml: ..." that
/// names elements of the file. Empty if there is no such place.
[[nodiscard]] std::vector<std::string> excerpt_of(const std::string& error);

}  // namespace thinwire::cli
