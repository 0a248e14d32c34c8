// Any bytes whatever are read as a trace, or refused with an InputError. HDF5 itself is not
// instrumented, so what guides libFuzzer is the reader's code.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/core/errors.hpp"
#include "traces/trace.hpp"

namespace {

/// In memory, where there is such a folder.
std::string scratch_file() {
  const std::filesystem::path memory("/dev/shm");
  const auto folder =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  static std::string path;
  path = (folder / ("thinwire-fuzz-" + std::to_string(getpid()))).string();
  static_cast<void>(std::atexit([] { static_cast<void>(::unlink(path.c_str())); }));
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = scratch_file();
  const std::vector<char> bytes(data, data + size);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
  try {
    static_cast<void>(thinwire::read_all(thinwire::TraceReader(path)));
  } catch (const thinwire::InputError&) {
    return 0;
  }
  return 0;
}
