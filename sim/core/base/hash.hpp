// FNV-1a in 64 bits, as 16 hexadecimal digits. It tells contents apart that nobody forges.
#pragma once

#include <string>
#include <string_view>

namespace thinwire::inline base {

[[nodiscard]] std::string hash_of_text(std::string_view text);
/// The hash of what a file holds, which may be more than memory does. It is remembered until the
/// file changes. Empty where the path names no regular file.
[[nodiscard]] std::string hash_of_file(const std::string& path);

}  // namespace thinwire::inline base
