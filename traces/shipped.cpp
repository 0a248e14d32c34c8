#include "traces/shipped.hpp"

#include "sim/core/base/shipped_files.hpp"

namespace thinwire::traces {

namespace {

ShippedFiles traces() {
  return {
      .what = "trace", .extension = ".h5", .folders = shipped_folders("traces/recorded", "traces")};
}

ShippedFiles profiles() {
  return {.what = "profile",
          .extension = ".json",
          .folders = shipped_folders("traces/profiles", "profiles")};
}

}  // namespace

std::vector<std::string> shipped_traces() { return traces().names(); }

std::string trace_file(const std::string& name_or_path) { return traces().file(name_or_path); }

std::vector<std::string> shipped_profiles() { return profiles().names(); }

std::string profile_file(const std::string& name_or_path) { return profiles().file(name_or_path); }

}  // namespace thinwire::traces
