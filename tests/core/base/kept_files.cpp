#include "sim/core/base/kept_files.hpp"

#include <doctest/doctest.h>

#include "sim/core/base/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::inline base {

namespace {

int readings = 0;

std::string counted(const std::string& path) {
  ++readings;
  return read_text(path);
}

}  // namespace

TEST_CASE("a file is read again when its text has changed, and only then") {
  const test::TemporaryFolder folder;
  const std::string one = folder.write("one", "a");
  const std::string other = folder.write("other", "a");
  KeptFiles<std::string> files(counted);
  readings = 0;
  CHECK(*files.at(one) == "a");
  const auto before = files.at(one);
  CHECK(readings == 1);
  CHECK(*files.at(other) == "a");
  CHECK(readings == 2);
  static_cast<void>(folder.write("one", "b"));
  CHECK(*files.at(one) == "b");
  CHECK(*files.at(one) == "b");
  CHECK(readings == 3);
  CHECK(*before == "a");
  CHECK_THROWS_AS(static_cast<void>(files.at(one + "/missing")), InputError);
}

}  // namespace thinwire::inline base
