// Text that users and files gave, as messages and tables show it.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::inline base {

[[nodiscard]] bool is_utf8(std::string_view text);

/// The text on one line: control characters, and bytes that are no UTF-8, are escaped ("\n",
/// "\x1b"), and of a very long text the middle is left out.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace thinwire::inline base
