#include "sim/core/base/hash.hpp"

#include <doctest/doctest.h>

#include "tests/support/temporary_folder.hpp"

namespace thinwire::inline base {

TEST_CASE("A hash has the published digits of FNV-1a") {
  CHECK(hash_of_text("") == "cbf29ce484222325");
  CHECK(hash_of_text("a") == "af63dc4c8601ec8c");
  CHECK(hash_of_text("foobar") == "85944171f73967e8");
}

TEST_CASE("A file has the hash of its content, also where it is read in pieces") {
  const test::TemporaryFolder folder;
  CHECK(hash_of_file(folder.write("small", "foobar")) == hash_of_text("foobar"));
  CHECK(hash_of_file(folder.write("empty", "")) == hash_of_text(""));
  const std::string large(3'000'001, 'x');
  CHECK(hash_of_file(folder.write("large", large)) == hash_of_text(large));
}

TEST_CASE("A file that has changed has another hash, and no file has none") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("file", "before");
  CHECK(hash_of_file(path) == hash_of_text("before"));
  CHECK(hash_of_file(folder.write("file", "afterwards")) == hash_of_text("afterwards"));
  CHECK(hash_of_file(folder.path("none")).empty());
  CHECK(hash_of_file(folder.path(".")).empty());
}

}  // namespace thinwire::inline base
