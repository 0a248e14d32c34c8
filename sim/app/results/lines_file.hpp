// A file of JSON Lines with a single writer: lines are added one by one, and none is lost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "sim/core/base/json.hpp"

namespace thinwire::results {

/// Keeps a file open and locked during its lifetime: no other process writes the file through this
/// class, on this machine or on others that share the file system.
class LinesFile {
 public:
  /// Opens or creates the file and passes its content to `check`, which throws if the content is
  /// not what it should be; then an incomplete line is removed from the end. Throws InputError if
  /// the file cannot be written or another process is writing it.
  LinesFile(const std::string& path, const std::function<void(const std::string& text)>& check);
  LinesFile(const LinesFile&) = delete;
  LinesFile& operator=(const LinesFile&) = delete;
  ~LinesFile();

  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Adds lines, whole or not at all. Throws SimulationError where they cannot be written, and as
  /// check_in_place does.
  void append(std::string_view lines);
  /// Replaces the whole content with `text` atomically and closes the file. Throws SimulationError
  /// if that fails, and leaves the file as it was.
  void replace(std::string_view text);
  /// Throws SimulationError where the file was deleted or replaced since it was opened.
  void check_in_place() const;
  /// Throws InterruptedError, which says that so many of all `what` are in the file; or as
  /// check_in_place does.
  [[noreturn]] void throw_interrupted(std::size_t done, std::size_t all, const char* what) const;

 private:
  void open_and_lock();
  [[nodiscard]] bool is_in_place() const;
  void read_back(const std::function<void(const std::string& text)>& check);

  std::filesystem::path path_;
  int file_ = -1;
};

/// Hands each line of a text to `take`, with its place ("results.jsonl:3"). False where the last
/// one is cut off: its writer was killed. Each line begins with `begin`; a last one that does not
/// was not cut off. Throws InputError for another line that is not JSON, and as parse_json does.
bool for_each_json_line(const std::string& text, const std::string& path,
                        const std::function<void(const Json& line, const std::string& at)>& take,
                        std::string_view begin = "{\"");

}  // namespace thinwire::results
