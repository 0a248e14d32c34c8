#include "sim/core/base/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/shipped_files.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::inline base {

namespace {

namespace fs = std::filesystem;

/// Where modules may be: beside each share/thinwire folder, in the build folder, and where this build
/// is installed.
std::vector<std::string> possible_files(const char* name) {
  std::vector<fs::path> folders;
  for (const std::string& share : share_folders()) {
    folders.push_back((fs::path(share) / THINWIRE_MODULES_FROM_SHARE).lexically_normal());
  }
  folders.emplace_back(THINWIRE_BUILT_MODULES);
  folders.emplace_back(THINWIRE_MODULES);
  std::vector<std::string> files;
  for (const fs::path& folder : folders) files.push_back((folder / name).string() + ".so");
  return files;
}

std::string last_error() {
  const char* const error = dlerror();
  return error == nullptr ? "the loader gives no reason" : error;
}

[[noreturn]] void refuse(const Module& module, const std::string& what) {
  throw SimulationError("the module '{}' ({}) cannot be used: {}", module.name, module.brings,
                        what);
}

void* load(const Module& module) {
  const std::string file = module.file();
  if (file.empty()) {
    refuse(module, fmt::format("there is no {}; build or install all of Thinwire: 'cmake --build' "
                               "and 'cmake --install' without --component, or the package thinwire",
                               fmt::join(possible_files(module.name), ", ")));
  }
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    refuse(module, fmt::format("{}; install the library that is missing, or build Thinwire again",
                               last_error()));
  }
  const void* const version = dlsym(library, "thinwire_module_version");
  const std::string its = version == nullptr ? "none" : *static_cast<const char* const*>(version);
  if (its != built_version()) {
    refuse(module,
           fmt::format("{} is of version {}, and this is {}; build or install both together", file,
                       its, built_version()));
  }
  return library;
}

}  // namespace

std::string Module::file() const {
  const std::vector<std::string> files = possible_files(name);
  const auto found = std::ranges::find_if(files, [](const std::string& one) {
    std::error_code ignored;
    return fs::is_regular_file(one, ignored);
  });
  return found == files.end() ? std::string() : *found;
}

const void* Module::exported(const char* symbol) const {
  const void* const table = dlsym(load(*this), symbol);
  if (table == nullptr) refuse(*this, last_error());
  return table;
}

}  // namespace thinwire::inline base
