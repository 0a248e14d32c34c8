#include "tools/recorder/data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sim/core/base/errors.hpp"
#include "tests/recorder/support.hpp"

namespace thinwire::recorder {

TEST_CASE("The digits are 1,797 images of all ten classes") {
  const std::vector<Digit> digits = read_digits();
  CHECK(digits.size() == 1797);
  CHECK(digits.front().label == 0);
  CHECK(digits.front().pixels.at(2) == 5.0F / 16);
  std::array<int, 10> classes{};
  for (const Digit& digit : digits) ++classes.at(static_cast<std::size_t>(digit.label));
  CHECK(*std::ranges::min_element(classes) > 170);
}

TEST_CASE("The text is 31,102 verses without their references") {
  const Text text = read_text();
  REQUIRE(text.verses.size() == 31102);
  std::string first;
  for (const std::int64_t c : text.verses.front()) {
    first += text.alphabet.at(static_cast<std::size_t>(c));
  }
  CHECK(first == "In the beginning God created the heaven and the earth.\n");
}

TEST_CASE("Where data is missing, the error names the package") {
  CHECK_THROWS_WITH_AS((void)read_digits("/nowhere/digits.csv.gz"),
                       doctest::Contains("python3-sklearn"), InputError);
  CHECK_THROWS_WITH_AS((void)read_text("true"), doctest::Contains("bible-kjv-text"), InputError);
}

TEST_CASE("Other data in place of the digits is refused") {
  const std::string path = test::scratch_file("digits.csv");
  std::ofstream(path) << "1,2,3\n";
  CHECK_THROWS_WITH_AS((void)read_digits(path), doctest::Contains("line 1"), InputError);
  std::filesystem::remove(path);
}

}  // namespace thinwire::recorder
