#include "sim/core/base/memory.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::inline base {

TEST_CASE("The memory that is available is what the machine and its groups leave") {
  const test::TemporaryFolder folder;
  CHECK(available_in_machine(folder.write("meminfo", "MemTotal: 9 kB\nMemAvailable: 4 kB\n")) ==
        4096);
  CHECK(available_in_machine(folder.path("none")) == INT64_MAX);
  std::filesystem::create_directories(folder.path("two/a/b"));
  const std::string two = folder.path("two");
  CHECK(available_in_group(two, "/a/b") == INT64_MAX);
  static_cast<void>(folder.write("two/a/memory.max", "1000\n"));
  static_cast<void>(folder.write("two/a/memory.current", "900\n"));
  static_cast<void>(folder.write("two/a/memory.stat", "anon 700\ninactive_file 150\n"));
  static_cast<void>(folder.write("two/a/b/memory.max", "max\n"));
  static_cast<void>(folder.write("two/a/b/memory.current", "5\n"));
  CHECK(available_in_group(two, "/a/b") == 250);
  static_cast<void>(folder.write("two/memory.limit_in_bytes", "700\n"));
  static_cast<void>(folder.write("two/memory.usage_in_bytes", "800\n"));
  CHECK(available_in_group(two, "/a/b") == 0);
  CHECK(available_memory() > 0);
}

TEST_CASE("What takes more memory than there is gets refused with both figures") {
  CHECK_NOTHROW(require_memory(1e6, "it", "take less"));
  const std::string text =
      test::error_of<InputError>([] { require_memory(0x1p60, "it", "take less"); });
  CHECK(text.starts_with("it: takes about 1.07e+09 GiB of memory, and "));
  CHECK(text.ends_with(" are available; take less"));
  CHECK(memory_text(1.5 * (1 << 30)) == "1.5 GiB");
  CHECK(memory_text(20 << 20) == "20 MiB");
}

}  // namespace thinwire::inline base
