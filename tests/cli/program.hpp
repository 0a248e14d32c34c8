// Runs the thinwire program as a user does.
#pragma once

#include <filesystem>
#include <string>

namespace thinwire::testing {

struct Ended {
  int exit_code;
  std::string out;
  std::string err;
};

/// Arguments as the shell would take them.
[[nodiscard]] Ended run_program(const std::string& arguments);

/// An empty folder that is removed in the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  /// Writes a file and gives its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path folder_;
};

[[nodiscard]] std::string text_of(const std::string& path);

}  // namespace thinwire::testing
