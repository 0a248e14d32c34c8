#include "topologies/loading/shipped.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/shipped_platforms.hpp"

namespace thinwire::topologies {

using test::contains;
using test::error_of;

TEST_CASE("a path stays as it is, whether or not there is such a file") {
  for (const char* path : {"my.xml", "./my", "/tmp/any", "folder/alphabeta"}) {
    CHECK(kPlatforms.file(path) == path);
  }
}

TEST_CASE("every shipped platform is found by its name") {
  const std::vector<std::string> names = kPlatforms.names();
  REQUIRE(!names.empty());
  CHECK(names == test::platforms_in_folder());
  for (const std::string& name : names) {
    CHECK(std::filesystem::path(kPlatforms.file(name)).filename() == name + ".xml");
    CHECK(std::filesystem::is_regular_file(kPlatforms.file(name)));
  }
}

TEST_CASE("an unknown platform is refused with the nearest name") {
  const auto refusal = [](const std::string& name) {
    return error_of<InputError>([&] { (void)kPlatforms.file(name); });
  };
  CHECK(contains(refusal("aries_dain"),
                 "unknown platform 'aries_dain'; did you mean 'aries_daint'?"));
  CHECK(contains(refusal("frontier"),
                 "known are abci_a, abci_v, alphabeta, alps_gh200, aries_8192, aries_daint"));
  CHECK(contains(refusal(""), "unknown platform ''"));
}

}  // namespace thinwire::topologies
