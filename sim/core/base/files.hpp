// Files that users give, as texts.
#pragma once

#include <filesystem>
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

/// The file that a link leads to, also where it does not exist yet.
[[nodiscard]] std::filesystem::path linked_file(std::filesystem::path path);
/// Writes a file, which holds either what it held before or all of the text; links stay links.
/// Empty, or why that could not be done. What is no regular file is written as it is.
[[nodiscard]] std::string try_write_text(const std::filesystem::path& path, std::string_view text);
/// The same. Throws InputError where it cannot be written.
void write_text(const std::string& path, std::string_view text);
/// Removes what a process that was killed while it wrote `path` left beside it. Nobody else may be
/// writing it.
void remove_unfinished(const std::filesystem::path& path);

}  // namespace thinwire::inline base
