// Text that users and files gave, as messages and tables show it.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::inline base {

[[nodiscard]] bool is_utf8(std::string_view text);

/// The text on one line: control characters, and bytes that are no UTF-8, are escaped ("\n",
/// "\x1b"), and of a very long text the middle is left out.
[[nodiscard]] std::string printable(std::string_view text);

/// What a message repeats of a text that a user or a file gave: as printable() shows it, and at most
/// 120 characters of it, without its middle.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace thinwire::inline base
