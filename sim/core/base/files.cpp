#include "sim/core/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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
  throw InputError("{}: cannot be read: {}", path, reason);
}

namespace {

/// A file that is open for reading, and is closed at the end.
class OpenFile {
 public:
  /// A pipe without a writer opens at once, where its reader can say so.
  explicit OpenFile(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0 || S_ISDIR(status.st_mode)) {
      if (file_ >= 0) close(file_);
      refuse_unreadable(path);
    }
    pipe_ = S_ISFIFO(status.st_mode);
    size_ = S_ISREG(status.st_mode) ? status.st_size : 0;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(file_); }

  [[nodiscard]] bool is_pipe() const { return pipe_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Reads on, and waits for a writer that is there. 0 at the end, or where nobody writes; negative
  /// where it fails.
  [[nodiscard]] ssize_t read_on(std::span<char> into) const {
    while (true) {
      const ssize_t got = read(file_, into.data(), into.size());
      if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
      if (errno == EINTR) continue;
      struct pollfd waiting = {.fd = file_, .events = POLLIN, .revents = 0};
      poll(&waiting, 1, -1);
    }
  }

 private:
  int file_;
  bool pipe_ = false;
  std::int64_t size_ = 0;
};

[[noreturn]] void refuse_long(const std::string& path, std::int64_t most) {
  throw InputError("{}: is longer than {} MiB, or endless: the most that is read here", path,
                   most >> 20U);
}

}  // namespace

std::string read_text(const std::string& path, std::int64_t most) {
  constexpr std::size_t kBlock = std::size_t{1} << 18U;
  const OpenFile file(path);
  if (file.size() > most) refuse_long(path, most);
  std::string text;
  text.reserve(static_cast<std::size_t>(file.size()));
  std::vector<char> block(kBlock);
  constexpr std::chrono::milliseconds kBetween(20);
  constexpr int kLooks = 250;  // for a writer of a pipe, in five seconds
  int looks = 0;
  while (true) {
    const ssize_t got = file.read_on(block);
    if (got < 0) {
      throw InputError("{}: cannot be read to its end: {}", path, std::strerror(errno));
    }
    if (got == 0 && file.is_pipe() && text.empty() && ++looks < kLooks) {
      std::this_thread::sleep_for(kBetween);
      continue;
    }
    if (got == 0 && looks == kLooks) {
      throw InputError("{}: is a pipe to which nobody writes", path);
    }
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (std::cmp_greater(text.size(), most)) refuse_long(path, most);
  }
}

std::string read_text_if_any(const std::string& path, std::int64_t most) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return access(path.c_str(), R_OK) == 0 ? read_text(path, most) : "";
}

std::string read_first_line(const std::string& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 14U;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || access(path.c_str(), R_OK) != 0)
    return {};
  const OpenFile file(path);
  std::string text;
  std::vector<char> block(kBlock);
  while (text.find('\n') == std::string::npos) {
    const ssize_t got = file.read_on(block);
    if (got <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (std::cmp_greater(text.size(), kMostConfigBytes)) refuse_long(path, kMostConfigBytes);
  }
  return text.substr(0, text.find('\n'));
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
  if (!exists && target.has_parent_path()) {
    std::error_code failed;
    fs::create_directories(target.parent_path(), failed);
    if (failed) return fmt::format("its folder cannot be made: {}", failed.message());
  }
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
  if (!why.empty()) throw InputError("{}: cannot be written: {}", path, why);
}

void require_writable(const std::string& path) {
  const auto refuse = [&](int error) {
    throw InputError("{}: cannot be written: {}", path, std::strerror(error));
  };
  const fs::path target = linked_file(path);
  struct stat before {};
  const bool exists = stat(target.c_str(), &before) == 0;
  if (exists && S_ISDIR(before.st_mode)) refuse(EISDIR);
  if (exists && access(target.c_str(), W_OK) != 0) refuse(errno);
  if (exists && !S_ISREG(before.st_mode)) return;
  // The new file is made beside the old one, and its folder where there is none.
  std::error_code ignored;
  fs::path folder = fs::absolute(target, ignored).parent_path();
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, ignored)) refuse(ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(errno);
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
