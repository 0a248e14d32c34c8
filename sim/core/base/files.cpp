#include "sim/core/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/hash.hpp"

namespace thinwire::inline base {

namespace {

namespace fs = std::filesystem;

/// What the names of the files begin with that become `path` when they are complete.
std::string unfinished_prefix(const fs::path& path) {
  constexpr std::size_t kLongestName = 230;  // file systems take 255 bytes
  const std::string name = path.filename().string();
  return (name.size() > kLongestName ? hash_of_text(name) : name) + ".new";
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

void refuse_unreadable(const std::string& path) {
  std::error_code ignored;
  const char* const reason =
      !std::filesystem::exists(path, ignored)        ? "there is no such file; check the path"
      : std::filesystem::is_directory(path, ignored) ? "it is a folder; name a file"
                                                     : "check its permissions";
  throw InputError(fmt::format("{}: cannot be read: {}", path, reason));
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) refuse_unreadable(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) throw InputError(fmt::format("{}: cannot be read to its end", path));
  return text;
}

std::string read_text_if_any(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

fs::path linked_file(fs::path path) {
  constexpr int kMostLinks = 40;
  std::error_code ignored;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, ignored); ++i) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

std::string try_write_text(const fs::path& path, std::string_view text) {
  struct stat before {};
  const bool exists = stat(path.c_str(), &before) == 0;
  const bool regular = !exists || S_ISREG(before.st_mode);
  if (exists && access(path.c_str(), W_OK) != 0) return std::strerror(errno);
  const fs::path target = regular ? linked_file(path) : path;
  const fs::path fresh =
      regular ? target.parent_path() / fmt::format("{}{}", unfinished_prefix(target), getpid())
              : path;
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  bool done = write_all(file, text);
  if (regular) {
    done = done && (!exists || fchmod(file, before.st_mode & 07777U) == 0) && fsync(file) == 0 &&
           std::rename(fresh.c_str(), target.c_str()) == 0;
  }
  std::string why = done ? "" : std::strerror(errno);
  close(file);
  if (!done && regular) unlink(fresh.c_str());
  return why;
}

void write_text(const std::string& path, std::string_view text) {
  const std::string why = try_write_text(path, text);
  if (!why.empty()) throw InputError(fmt::format("{}: cannot be written: {}", path, why));
}

void require_writable(const std::string& path) {
  const auto refuse = [&](int error) {
    throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
  };
  const fs::path target = linked_file(path);
  struct stat before {};
  const bool exists = stat(target.c_str(), &before) == 0;
  if (exists && S_ISDIR(before.st_mode)) refuse(EISDIR);
  if (exists && access(target.c_str(), W_OK) != 0) refuse(errno);
  if (exists && !S_ISREG(before.st_mode)) return;
  // The new file is made beside the old one.
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code ignored;
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(errno);
  if (!fs::is_directory(folder, ignored)) refuse(ENOTDIR);
}

void remove_unfinished(const fs::path& path) {
  const std::string prefix = unfinished_prefix(path);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos) {
      fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace thinwire::inline base
