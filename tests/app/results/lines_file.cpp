// Files of JSON Lines.
#include "sim/app/results/lines_file.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::results {

TEST_CASE("Lines of JSON have their place, and only the last one may be cut off") {
  std::string places;
  const auto read = [&](const std::string& text) {
    return results::for_each_json_line(
        text, "file", [&](const Json&, const std::string& at) { places += at + " "; });
  };
  CHECK(read("1\n{}\n"));
  CHECK(places == "file:1 file:2 ");
  CHECK(read(""));
  CHECK(read("1\n2"));
  CHECK_FALSE(read("1\n{\"a\":"));
  CHECK(test::error_of<InputError>([&] { static_cast<void>(read("1\n{\n2\n")); }) ==
        "file:2: not JSON; results are one JSON object a line");
  CHECK(test::error_of<InputError>([&] { static_cast<void>(read("my only line")); }) ==
        "file:1: not JSON; results are one JSON object a line");
}

}  // namespace thinwire::results
