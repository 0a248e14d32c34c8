// Files that users give, as texts.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::inline base {

/// Throws InputError, which asks whether there is such a file.
[[noreturn]] void refuse_unreadable(const std::string& path);
/// All that a file or a pipe holds. Throws InputError where it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);
/// The same, but empty where the path names no regular file.
[[nodiscard]] std::string read_text_if_any(const std::string& path);
/// Writes to a descriptor; false, with errno, where not all of it could be written.
[[nodiscard]] bool write_all(int file, std::string_view text);

}  // namespace thinwire::inline base
