// Reads and writes the files that users name.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::inline base {

/// Throws InputError, which says that `path` cannot be read and asks whether it exists.
[[noreturn]] void refuse_unreadable(const std::string& path);
/// Returns the whole content of a file or a pipe. Throws InputError when it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);
/// Does the same, but returns an empty text when the path names no regular file.
[[nodiscard]] std::string read_text_if_any(const std::string& path);
/// Writes to a file descriptor; false, with errno, when not all of the text could be written.
[[nodiscard]] bool write_all(int file, std::string_view text);

}  // namespace thinwire::inline base
