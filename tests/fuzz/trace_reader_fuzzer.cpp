// Any bytes whatever are read as a trace, or refused with an InputError. HDF5 itself is not
// instrumented, so what guides libFuzzer is the reader's code.
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/fuzz/scratch.hpp"
#include "traces/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = thinwire::test::scratch_file(data, size);
  try {
    static_cast<void>(thinwire::traces::read_all(thinwire::traces::TraceReader(path)));
  } catch (const thinwire::InputError&) {
    return 0;
  }
  return 0;
}
