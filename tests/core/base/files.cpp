#include "sim/core/base/files.hpp"

#include <doctest/doctest.h>

#include <filesystem>

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
          path + ": cannot be read: " +
              (path.ends_with(".") ? "it is a folder; name a file"
                                   : "there is no such file; check the path"));
    CHECK(read_text_if_any(path).empty());
  }
}

TEST_CASE("A file is written at once or left as it was, and links stay links") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("text", "old");
  std::filesystem::create_symlink("text", folder.path("link"));
  write_text(folder.path("link"), "new");
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  CHECK(read_text(path) == "new");
  write_text("/dev/null", "nothing");
  CHECK(test::error_of<InputError>([&] { write_text("/dev/full", "text"); }) ==
        "/dev/full: cannot be written: No space left on device");
  const std::string longest(255, 'n');
  write_text(folder.path(longest), "text");
  CHECK(read_text(folder.path(longest)) == "text");
  CHECK(test::error_of<InputError>([&] {
          write_text(folder.path(longest + "n"), "text");
        }).ends_with("cannot be written: File name too long"));
}

TEST_CASE("What a killed writer left beside a file is removed, and nothing else") {
  const test::TemporaryFolder folder;
  static_cast<void>(folder.write("text.new123", ""));
  static_cast<void>(folder.write("text.newest", ""));
  static_cast<void>(folder.write("other.new123", ""));
  remove_unfinished(folder.path("text"));
  CHECK_FALSE(std::filesystem::exists(folder.path("text.new123")));
  CHECK(std::filesystem::exists(folder.path("text.newest")));
  CHECK(std::filesystem::exists(folder.path("other.new123")));
}

}  // namespace thinwire::inline base
