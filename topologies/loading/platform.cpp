#include "topologies/loading/platform.hpp"

#include <sys/stat.h>

#include <fstream>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "topologies/loading/simgrid_module.hpp"

namespace thinwire::topologies {

namespace {

void require_readable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw InputError("{}: is no file; name a platform XML", path);
  }
  if (stat(path.c_str(), &status) != 0) {
    throw InputError(
        "{}: cannot be read: there is no such file; check the path, or take a name of 'thinwire "
        "list platforms'",
        path);
  }
  if (!std::ifstream(path)) refuse_unreadable(path);
}

}  // namespace

const PlatformFunctions& platform_functions() {
  static const auto& kFunctions = kSimGrid.table<PlatformFunctions>("thinwire_platforms");
  return kFunctions;
}

Platform::Platform(const std::string& path, const Loading& loading) {
  require_readable(path);
  loaded_ = platform_functions().load(path, read_platform_xml(path), loading);
}

Platform::Platform(const std::string& path) : Platform(path, Loading{}) {}

}  // namespace thinwire::topologies
