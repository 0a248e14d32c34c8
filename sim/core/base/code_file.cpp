#include "sim/core/base/code_file.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

namespace thinwire::inline base {

namespace {

/// The path of the loaded library; empty for the program itself.
std::string library_file() {
  static const char here = 0;
  Dl_info info{};
  void* entry = nullptr;
  if (dladdr1(&here, &info, &entry, RTLD_DL_LINKMAP) == 0 || entry == nullptr) return {};
  return static_cast<const link_map*>(entry)->l_name;
}

}  // namespace

std::string code_file() {
  std::error_code unknown;
  const std::string library = library_file();
  if (!library.empty()) return std::filesystem::absolute(library, unknown).string();
  return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

bool is_loaded_library() { return !library_file().empty(); }

}  // namespace thinwire::inline base
