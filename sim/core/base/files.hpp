// Reads and writes the files that users name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace thinwire::inline base {

/// Throws InputError, which says that `path` cannot be read and asks whether it exists.
[[noreturn]] void refuse_unreadable(const std::string& path);
/// The longest text that is read where nothing else is said: 1 GiB.
inline constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 30U;
/// The longest configuration, description or table: 64 MiB.
inline constexpr std::int64_t kMostConfigBytes = std::int64_t{64} << 20U;

/// Returns the whole content of a file or a pipe, of at most `most` bytes. Throws InputError when it
/// cannot be read, when it is longer or endless, and when it is a pipe to which nobody writes.
[[nodiscard]] std::string read_text(const std::string& path, std::int64_t most = kMostTextBytes);
/// Does the same, but returns an empty text when the path names no regular file.
[[nodiscard]] std::string read_text_if_any(const std::string& path,
                                           std::int64_t most = kMostTextBytes);
/// The first line of a file, without its end; empty when the path names no regular file. Throws
/// InputError when it is longer than kMostConfigBytes.
[[nodiscard]] std::string read_first_line(const std::string& path);
/// The text behind the byte order mark with which some editors begin UTF-8.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);
/// Writes to a file descriptor; false, with errno, when not all of the text could be written.
[[nodiscard]] bool write_all(int file, std::string_view text);

/// The file that a link leads to, also where it does not exist yet.
[[nodiscard]] std::filesystem::path linked_file(std::filesystem::path path);
/// Writes a file, which holds either what it held before or all of the text; links stay links, and
/// the folder is made where there is none. Empty, or why that could not be done. What is no regular file is written as it is.
[[nodiscard]] std::string try_write_text(const std::filesystem::path& path, std::string_view text);
/// The same. Throws InputError where it cannot be written.
void write_text(const std::string& path, std::string_view text);
/// Throws InputError where write_text would, as far as that can be told before; writes nothing.
void require_writable(const std::string& path);
/// Removes what a process that was killed while it wrote `path` left beside it. Nobody else may be
/// writing it.
void remove_unfinished(const std::filesystem::path& path);

}  // namespace thinwire::inline base
