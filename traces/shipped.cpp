#include "traces/shipped.hpp"

#include "sim/core/shipped_files.hpp"

namespace thinwire {

namespace {

ShippedFiles shipped() {
  return {.what = "trace",
          .extension = ".h5",
          .folders = {THINWIRE_TRACES_SOURCE, THINWIRE_TRACES_INSTALLED}};
}

}  // namespace

std::vector<std::string> shipped_traces() { return shipped().names(); }

std::string trace_file(const std::string& name_or_path) { return shipped().file(name_or_path); }

}  // namespace thinwire
