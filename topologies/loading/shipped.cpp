#include "topologies/loading/shipped.hpp"

#include "sim/core/base/shipped_files.hpp"

namespace thinwire::topologies {

namespace {

ShippedFiles shipped() {
  return {.what = "platform",
          .extension = ".xml",
          .folders = shipped_folders("platforms", "platforms")};
}

}  // namespace

std::vector<std::string> shipped_platforms() { return shipped().names(); }

std::string platform_file(const std::string& name_or_path) { return shipped().file(name_or_path); }

}  // namespace thinwire::topologies
