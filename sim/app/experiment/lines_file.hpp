// A file of JSON Lines with a single writer: lines are added one by one, and none is lost.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "sim/core/base/json.hpp"

namespace thinwire::experiment {

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
  LinesFile(LinesFile&&) = delete;
  LinesFile& operator=(LinesFile&&) = delete;
  ~LinesFile();

  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Appends lines, all of them or none. Throws SimulationError if they cannot be written.
  void append(std::string_view lines);
  /// Replaces the whole content with `text` atomically and closes the file. Throws SimulationError
  /// if that fails, and leaves the file as it was.
  void replace(std::string_view text);

 private:
  void open_and_lock();
  void read_back(const std::function<void(const std::string& text)>& check);

  std::filesystem::path path_;
  int file_ = -1;
};

/// Passes each line of a text to `take`, with its position ("results.jsonl:3"). False if the last
/// one is incomplete: its writer was killed. Throws InputError for any other line that is not JSON.
bool for_each_json_line(const std::string& text, const std::string& path,
                        const std::function<void(const Json& line, const std::string& at)>& take);

/// Writes a file atomically: it holds either its old content or all of the text. Throws InputError
/// if it cannot be written.
void write_text(const std::string& path, std::string_view text);

}  // namespace thinwire::experiment
