#include "sim/core/base/children.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::inline base {

TEST_CASE("no more children run at once than were asked for, and outcomes keep their order") {
  const test::TemporaryFolder folder;
  // Each child holds a file while it runs, and tells how many there are.
  const auto hold = [&](int number) {
    return ChildWork{.run = [&folder, number] {
      const std::string file = folder.write(fmt::format("child{}", number), "");
      usleep(20'000 * static_cast<unsigned>(4 - number % 4));
      const auto held = std::distance(std::filesystem::directory_iterator(folder.path("")), {});
      std::filesystem::remove(file);
      return fmt::format("{} of {}", number, held);
    }};
  };
  for (const int most : {1, 3}) {
    Children children(most);
    for (int i = 0; i < 8; ++i) children.start(hold(i));
    REQUIRE(children.size() == 8);
    int together = 0;
    for (int i = 0; i < 8; ++i) {
      const std::string text = children.ended(static_cast<std::size_t>(i)).outcome().text;
      CHECK(text.starts_with(fmt::format("{} of ", i)));
      together = std::max(together, std::stoi(text.substr(text.rfind(' '))));
    }
    CHECK(together <= most);
    CHECK((together > 1) == (most > 1));
  }
}

TEST_CASE("a child that fails leaves the others alone") {
  Children children(2);
  children.start({.run = [] { return std::string("first"); }});
  children.start({.run = []() -> std::string { throw SimulationError("no"); }});
  children.start({.run = [] { return std::string("third"); }});
  CHECK(children.ended(2).outcome().text == "third");
  CHECK(children.has_ended(2));
  CHECK_THROWS_AS((void)children.ended(1).outcome(), SimulationError);
  CHECK(children.ended(0).outcome().text == "first");
}

}  // namespace thinwire::inline base
