#include "sim/experiment/results_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sim/core/errors.hpp"

namespace thinwire {

namespace {

namespace fs = std::filesystem;

/// The file that a link leads to, also where it does not exist yet: links stay links.
fs::path linked_file(fs::path path) {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path); ++i) {
    path = path.parent_path() / fs::read_symlink(path);
  }
  return path;
}

/// False, with errno, where not all of it could be written.
bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Nothing, or why `path` does not hold `text` now; then it holds what it held before.
std::string replace_text(const fs::path& path, std::string_view text) {
  const std::string fresh = fmt::format("{}.new{}", path.string(), getpid());
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  const bool written = write_all(file, text) && fsync(file) == 0;
  const bool done = written && std::rename(fresh.c_str(), path.c_str()) == 0;
  std::string why = done ? "" : std::strerror(errno);
  close(file);
  if (!done) unlink(fresh.c_str());
  return why;
}

[[noreturn]] void complain_unwritable(const fs::path& path, const std::string& why) {
  throw InputError(
      fmt::format("{}: cannot be written: {}; give another place with -o", path.string(), why));
}

}  // namespace

std::string lines_of(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += to_json(row).dump() + '\n';
  return lines;
}

void write_rows(const std::string& path, const std::vector<Row>& rows) {
  const fs::path target = linked_file(path);
  const std::string why = replace_text(target, lines_of(rows));
  if (!why.empty()) complain_unwritable(target, why);
}

ResultsFile::ResultsFile(const std::string& path) : path_(linked_file(path)) {
  std::error_code ignored;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), ignored);
  if (!path_.has_filename() || (fs::exists(path_, ignored) && !fs::is_regular_file(path_))) {
    throw InputError(fmt::format("{}: is no regular file; name one for the results", path));
  }
  try {
    open_and_lock();
    read_back();
  } catch (...) {
    if (file_ >= 0) close(file_);
    throw;
  }
}

ResultsFile::~ResultsFile() {
  if (file_ >= 0) close(file_);
}

void ResultsFile::open_and_lock() {
  while (true) {
    file_ = open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) complain_unwritable(path_, std::strerror(errno));
    // A lock of this process: a child does not inherit it, and it ends however the process ends.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(file_, F_SETLK, &lock) != 0) {
      if (errno != EACCES && errno != EAGAIN) return;  // a file system without locks
      fcntl(file_, F_GETLK, &lock);
      throw InputError(
          fmt::format("{}: another sweep is writing it (process {}); wait for it, or give another "
                      "place with -o",
                      path_.string(), lock.l_pid));
    }
    struct stat locked {};
    struct stat now {};
    if (fstat(file_, &locked) == 0 && stat(path_.c_str(), &now) == 0 &&
        locked.st_ino == now.st_ino && locked.st_dev == now.st_dev) {
      return;
    }
    close(file_);  // its writer put another file in its place in between
  }
}

void ResultsFile::read_back() {
  // Through this descriptor: closing another one of the file would give up the lock.
  std::string text;
  std::array<char, 1 << 16> buffer{};
  ssize_t got = 0;
  while ((got = read(file_, buffer.data(), buffer.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) complain_unwritable(path_, std::strerror(errno));
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  RowsFile found = rows_from(text, path_.string());
  if (found.truncated) {
    const std::size_t end = text.rfind('\n');
    const std::size_t whole = end == std::string::npos ? 0 : end + 1;
    if (ftruncate(file_, static_cast<off_t>(whole)) != 0) {
      complain_unwritable(path_, std::strerror(errno));
    }
  } else if (!text.empty() && text.back() != '\n' && !write_all(file_, "\n")) {
    complain_unwritable(path_, std::strerror(errno));
  }
  before_ = std::move(found.rows);
}

void ResultsFile::append(const Row& row) {
  const off_t end = lseek(file_, 0, SEEK_END);
  if (write_all(file_, lines_of({row}))) return;
  const std::string why = std::strerror(errno);
  const bool whole = ftruncate(file_, end) == 0;
  throw SimulationError(fmt::format("{}: cannot be written any more: {}{}", path_.string(), why,
                                    whole ? "" : "; its last line is not complete"));
}

void ResultsFile::replace(const std::vector<Row>& rows) {
  const std::string why = replace_text(path_, lines_of(rows));
  if (!why.empty()) {
    throw SimulationError(
        fmt::format("{}: holds all results, but cannot be put in order: {}", path_.string(), why));
  }
  close(file_);
  file_ = -1;
}

}  // namespace thinwire
