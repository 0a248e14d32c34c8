#include "sim/core/base/files.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

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

TEST_CASE("A text that is longer than what is read, or endless, is refused") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("text", std::string(3U << 20U, 'x'));
  CHECK(read_text(path, std::int64_t{3} << 20U).size() == 3U << 20U);
  for (const std::string& long_one : {path, std::string("/dev/zero")}) {
    CAPTURE(long_one);
    CHECK(test::error_of<InputError>([&] {
            static_cast<void>(read_text(long_one, std::int64_t{2} << 20U));
          }) == long_one + ": is longer than 2 MiB, or endless: the most that is read here");
  }
}

TEST_CASE("A pipe is read to its end, and refused where nobody writes") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(test::error_of<InputError>([&] { static_cast<void>(read_text(path)); }) ==
        path + ": is a pipe to which nobody writes");
  std::thread writer([&] {
    std::ofstream pipe(path);
    pipe << std::string(100'000, 'a') << std::flush;
    pipe << "end";
  });
  const std::string text = read_text(path);
  writer.join();
  CHECK(text.size() == 100'003);
  CHECK(text.ends_with("aend"));
  CHECK(read_text_if_any(path).empty());
}

TEST_CASE("The first line of a file is read alone") {
  const test::TemporaryFolder folder;
  CHECK(read_first_line(folder.write("text", "one\ntwo\n")) == "one");
  CHECK(read_first_line(folder.write("long", std::string(40'000, 'x') + "\ny")) ==
        std::string(40'000, 'x'));
  CHECK(read_first_line(folder.write("whole", "one")) == "one");
  CHECK(read_first_line(folder.path("none")).empty());
  CHECK(read_first_line("/dev/zero").empty());
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
  require_writable(folder.path("made/by/writing/text"));
  write_text(folder.path("made/by/writing/text"), "text");
  CHECK(read_text(folder.path("made/by/writing/text")) == "text");
  CHECK(test::error_of<InputError>([&] {
          write_text(path + "/below", "text");
        }).ends_with("cannot be written: its folder cannot be made: Not a directory"));
  CHECK(test::error_of<InputError>([&] {
          require_writable(path + "/below");
        }).ends_with("cannot be written: Not a directory"));
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
