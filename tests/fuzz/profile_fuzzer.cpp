// Any bytes whatever are read as a profile, or refused with an InputError; what is read is written
// and read again, and its unions are densities.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/core/errors.hpp"
#include "traces/profile.hpp"

namespace {

/// In memory, where there is such a folder.
std::string scratch_file() {
  const std::filesystem::path memory("/dev/shm");
  const auto folder =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  static std::string path;
  path = (folder / ("thinwire-fuzz-profile-" + std::to_string(getpid()))).string();
  static_cast<void>(std::atexit([] { static_cast<void>(::unlink(path.c_str())); }));
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = scratch_file();
  const std::vector<char> bytes(data, data + size);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
  thinwire::Profile profile;
  try {
    profile = thinwire::read_profile(path);
  } catch (const thinwire::InputError&) {
    return 0;
  }
  thinwire::write_profile(profile, path);
  profile = thinwire::read_profile(path);
  for (const auto family : {thinwire::PopularityFamily::copula, thinwire::PopularityFamily::beta}) {
    const double together = thinwire::union_density(profile, family, profile.density, 16);
    if (!(together >= 0 && together <= 1)) std::abort();
  }
  return 0;
}
