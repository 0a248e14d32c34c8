#include "sim/app/results/lines_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::results {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void complain_unwritable(const fs::path& path, const std::string& why) {
  throw InputError(
      "{}: cannot be written: {}; work in another folder, or give another place with -o where "
      "there is one",
      path.string(), why);
}

}  // namespace

bool for_each_json_line(const std::string& text, const std::string& path,
                        const std::function<void(const Json& line, const std::string& at)>& take,
                        std::string_view begin) {
  // After a power loss a file may end in zeros in the place of what was never written to the disk.
  // One of zeros alone shows no line of ours, and is refused as any other.
  const std::size_t written = text.find_last_not_of('\0') + 1;
  const bool ends_in_zeros = written > 0 && written < text.size();
  const std::string_view all(text.data(), ends_in_zeros ? written : text.size());
  std::size_t next = 0;
  for (int number = 1; next < all.size(); ++number) {
    const std::size_t end = std::min(all.find('\n', next), all.size());
    const std::string_view line = all.substr(next, end - next);
    next = end + 1;
    const std::string at = fmt::format("{}:{}", path, number);
    Json json;
    try {
      json = parse_json(line, at);
    } catch (const Json::parse_error&) {
      const bool begins_so = line.starts_with(begin) || begin.starts_with(line);
      if (end == all.size() && begins_so) return false;  // a line without its end
      throw InputError("{}: not JSON; results are one JSON object a line", at);
    }
    take(json, at);
  }
  return !ends_in_zeros;
}

LinesFile::LinesFile(const std::string& path,
                     const std::function<void(const std::string& text)>& check)
    : path_(linked_file(path)) {
  std::error_code failed;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), failed);
  if (failed) {
    complain_unwritable(path_, fmt::format("its folder cannot be made: {}", failed.message()));
  }
  if (!path_.has_filename() || (fs::exists(path_, failed) && !fs::is_regular_file(path_, failed))) {
    throw InputError("{}: is not a regular file; name one for the results", path);
  }
  try {
    open_and_lock();
    remove_unfinished(path_);
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
          "{}: another command is writing it (process {}); wait for it, work in another folder, or "
          "give another place with -o where there is one",
          path_.string(), lock.l_pid);
    }
    if (is_in_place()) return;
    close(file_);  // its writer put another file in its place in between
  }
}

bool LinesFile::is_in_place() const {
  struct stat locked {};
  struct stat now {};
  return fstat(file_, &locked) == 0 && stat(path_.c_str(), &now) == 0 &&
         locked.st_ino == now.st_ino && locked.st_dev == now.st_dev;
}

void LinesFile::check_in_place() const {
  if (is_in_place()) return;
  throw SimulationError(
      "{}: was deleted or replaced by another file while results were written to it; the same "
      "command goes on with what is there now",
      path_.string());
}

void LinesFile::throw_interrupted(std::size_t done, std::size_t all, const char* what) const {
  check_in_place();
  throw InterruptedError("interrupted; {} of {} {} are in {}, and the same command {}", done, all,
                         what, path(), done == 0 ? "begins again" : "goes on");
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
  if (const std::size_t written = text.find_last_not_of('\0') + 1; written < text.size()) {
    if (ftruncate(file_, static_cast<off_t>(written)) != 0) {
      complain_unwritable(path_, std::strerror(errno));
    }
    text.resize(written);
  }
  if (text.empty() || text.back() == '\n') return;
  const std::size_t end = text.rfind('\n');
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  const bool complete = Json::accept(text.begin() + static_cast<std::ptrdiff_t>(whole), text.end());
  if (complete ? !write_all(file_, "\n") : ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    complain_unwritable(path_, std::strerror(errno));
  }
}

void LinesFile::append(std::string_view lines) {
  check_in_place();
  const off_t end = lseek(file_, 0, SEEK_END);
  if (write_all(file_, lines)) return;
  const std::string why = std::strerror(errno);
  const bool whole = ftruncate(file_, end) == 0;
  throw SimulationError("{}: cannot be written any more: {}{}", path_.string(), why,
                        whole ? "" : "; its last line is not complete");
}

void LinesFile::replace(std::string_view text) {
  check_in_place();
  const std::string why = try_write_text(path_, text);
  if (!why.empty()) {
    throw SimulationError("{}: holds all results, but cannot be put in order: {}", path_.string(),
                          why);
  }
  close(file_);
  file_ = -1;
}

}  // namespace thinwire::results
