// The 64-bit FNV-1a hash as 16 hexadecimal digits. It distinguishes contents that nobody forges.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::inline base {

[[nodiscard]] std::string hash_of_text(std::string_view text);
/// The hash of the content of a file, which may be larger than memory. The hash is remembered until
/// the file changes, and is empty when the path names no regular file.
[[nodiscard]] std::string hash_of_file(const std::string& path);

}  // namespace thinwire::inline base
