// Any bytes whatever are read as a profile, or refused with an InputError; what is read is written
// and read again, and its unions are densities.
#include <cstdlib>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/fuzz/scratch.hpp"
#include "traces/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = thinwire::test::scratch_file(data, size);
  thinwire::traces::Profile profile;
  try {
    profile = thinwire::traces::read_profile(path);
  } catch (const thinwire::InputError&) {
    return 0;
  }
  thinwire::traces::write_profile(profile, path);
  profile = thinwire::traces::read_profile(path);
  for (const auto family :
       {thinwire::traces::PopularityFamily::copula, thinwire::traces::PopularityFamily::beta}) {
    const double together = thinwire::traces::union_density(profile, family, profile.density, 16);
    if (!(together >= 0 && together <= 1)) std::abort();
  }
  return 0;
}
