// A file for the bytes that a fuzzer gives to a reader of files.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace thinwire::test {

/// Its path, with these bytes in it: one file a process, in memory where there is such a folder.
inline const std::string& scratch_file(const std::uint8_t* data, std::size_t size) {
  static const std::string path = [] {
    const std::filesystem::path memory("/dev/shm");
    const auto folder =
        std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    return (folder / ("thinwire-fuzz-" + std::to_string(getpid()))).string();
  }();
  static const int registered = std::atexit([] { static_cast<void>(::unlink(path.c_str())); });
  static_cast<void>(registered);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return path;
}

}  // namespace thinwire::test
