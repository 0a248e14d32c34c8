// Where the program finds what comes with it, and what it does not show.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/app/cli/program.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::testing {

using test::contains;

TEST_CASE("THINWIRE_SHARE is looked into before all other folders") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("platforms"));
  std::ofstream(folder.path("platforms/mine.xml")) << "<platform/>";
  setenv("THINWIRE_SHARE", folder.path("").c_str(), 1);
  const Ended platforms = run_program("list platforms");
  const Ended models = run_program("list models");
  unsetenv("THINWIRE_SHARE");
  CHECK(contains(platforms.out, folder.path("platforms/mine.xml")));
  CHECK_FALSE(contains(platforms.out, "fat_tree"));
  CHECK(contains(models.out, "bert"));  // is not there, so it comes from the next folder
  CHECK(contains(run_program("list platforms").out, "fat_tree"));
}

TEST_CASE("a sweep that is no file and no shipped one is refused with the nearest name") {
  const Ended ended = run_program("sweep tabel1");
  CHECK(ended.exit_code == 2);
  CHECK(contains(ended.err, "unknown sweep 'tabel1'; did you mean 'table1'?"));
  CHECK(run_program("sweep no_such.json").exit_code == 2);
}

TEST_CASE("what completion and the man page are made from is not in the help") {
  const Ended help = run_program("--help");
  CHECK(help.exit_code == 0);
  CHECK_FALSE(contains(help.out, "complete "));
  CHECK_FALSE(contains(help.out, "manual"));
  CHECK(contains(run_program("complete -- run --scheme dense_ri").out, "dense_ring\n"));
  CHECK(run_program("complete -- run --scheme nothing_like_it").out.empty());
}

}  // namespace thinwire::testing
