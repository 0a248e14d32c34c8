#include "sim/app/experiment/lines_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::experiment {

namespace {

namespace fs = std::filesystem;

/// Resolves symbolic links, also to a file that does not exist yet, so that links survive writing.
fs::path linked_file(fs::path path) {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path); ++i) {
    path = path.parent_path() / fs::read_symlink(path);
  }
  return path;
}

/// Replaces the file atomically. Returns why that failed, with the file unchanged, or nothing.
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

bool for_each_json_line(const std::string& text, const std::string& path,
                        const std::function<void(const Json& line, const std::string& at)>& take) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string at = fmt::format("{}:{}", path, number);
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() && lines.eof()) return false;  // an incomplete last line
    if (json.is_discarded()) {
      throw InputError(fmt::format("{}: not JSON; results are one JSON object per line", at));
    }
    take(json, at);
  }
  return true;
}

void write_text(const std::string& path, std::string_view text) {
  const fs::path target = linked_file(path);
  const std::string why = replace_text(target, text);
  if (!why.empty()) complain_unwritable(target, why);
}

LinesFile::LinesFile(const std::string& path,
                     const std::function<void(const std::string& text)>& check)
    : path_(linked_file(path)) {
  std::error_code ignored;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), ignored);
  if (!path_.has_filename() || (fs::exists(path_, ignored) && !fs::is_regular_file(path_))) {
    throw InputError(fmt::format("{}: is no regular file; name one for the results", path));
  }
  try {
    open_and_lock();
    read_back(check);
  } catch (...) {
    if (file_ >= 0) close(file_);
    throw;
  }
}

LinesFile::~LinesFile() {
  if (file_ >= 0) close(file_);
}

void LinesFile::open_and_lock() {
  while (true) {
    file_ = open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) complain_unwritable(path_, std::strerror(errno));
    // The lock belongs to the process: no child inherits it, and any end of the process releases
    // it.
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
    close(file_);  // its writer replaced the file in between
  }
}

void LinesFile::read_back(const std::function<void(const std::string& text)>& check) {
  // This descriptor must be used: closing another one of the same file would release the lock.
  std::string text;
  std::array<char, 1 << 16> buffer{};
  ssize_t got = 0;
  while ((got = read(file_, buffer.data(), buffer.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) complain_unwritable(path_, std::strerror(errno));
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  check(text);
  if (text.empty() || text.back() == '\n') return;
  const std::size_t end = text.rfind('\n');
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  const bool complete = Json::accept(text.begin() + static_cast<std::ptrdiff_t>(whole), text.end());
  if (complete ? !write_all(file_, "\n") : ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    complain_unwritable(path_, std::strerror(errno));
  }
}

void LinesFile::append(std::string_view lines) {
  const off_t end = lseek(file_, 0, SEEK_END);
  if (write_all(file_, lines)) return;
  const std::string why = std::strerror(errno);
  const bool whole = ftruncate(file_, end) == 0;
  throw SimulationError(fmt::format("{}: cannot be written any more: {}{}", path_.string(), why,
                                    whole ? "" : "; its last line is not complete"));
}

void LinesFile::replace(std::string_view text) {
  const std::string why = replace_text(path_, text);
  if (!why.empty()) {
    throw SimulationError(
        fmt::format("{}: holds all results, but cannot be put in order: {}", path_.string(), why));
  }
  close(file_);
  file_ = -1;
}

}  // namespace thinwire::experiment
