#include "sim/core/base/files.hpp"

#include <doctest/doctest.h>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::inline base {

TEST_CASE("A file is read as it is") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("text", "one\r\ntwo");
  CHECK(read_text(path) == "one\r\ntwo");
  CHECK(read_text_if_any(path) == "one\r\ntwo");
}

TEST_CASE("Where there is no file the reader is asked whether there is one") {
  const test::TemporaryFolder folder;
  for (const std::string& path : {folder.path("none"), folder.path("."), std::string()}) {
    CAPTURE(path);
    CHECK(test::error_of<InputError>([&] { static_cast<void>(read_text(path)); }) ==
          path + ": cannot be read; does the file exist?");
    CHECK(read_text_if_any(path).empty());
  }
}

}  // namespace thinwire::inline base
