#include "sim/core/base/csv_table.hpp"

#include <doctest/doctest.h>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::inline base {

TEST_CASE("A table has quoted cells, comments, empty lines and either end of line") {
  const CsvTable table(
      "\xef\xbb\xbf# measured\r\n\nname,note,size\r\n"
      "a,\"one, \"\"two\"\"\nthree\",1\r\n# between\nb,,-2",
      "t.csv");
  REQUIRE(table.rows() == 2);
  CHECK(table.text(0, "name") == "a");
  CHECK(table.text(0, "note") == "one, \"two\"\nthree");
  CHECK(table.whole(0, "size", 1) == 1);
  CHECK(table.text(1, "note").empty());
  CHECK(table.number(1, "size", "a number") == -2);
  CHECK(table.place(0) == "t.csv:4");
  CHECK(table.place(1) == "t.csv:7");
  CHECK_FALSE(table.has("nmae"));
}

TEST_CASE("What is wrong with a table is named with line and column") {
  const auto refusal = [](const std::string& text, auto use) {
    return test::error_of<InputError>([&] { use(CsvTable(text, "t.csv")); });
  };
  const auto nothing = [](const CsvTable& /*table*/) {};
  CHECK(refusal("a,b\n1,\"2\n3", nothing) == "t.csv:2:3: this quote is not closed");
  CHECK(refusal("a,b\n1,2,33,4\n", nothing) ==
        "t.csv:2:5: the line has 4 cells, and the first line names 2 columns");
  CHECK(refusal("a,b\n1\n", nothing) ==
        "t.csv:2:2: the line has 1 cells, and the first line names 2 columns");
  CHECK(refusal("a,b,a\n", nothing) == "t.csv:1:5: the column 'a' comes twice");
  const auto seconds = [](const CsvTable& table) { table.require({"node", "seconds"}); };
  CHECK(refusal("# x\nnode,second\n", seconds) ==
        "t.csv:2:1: there is no column 'seconds'; did you mean 'second'?");
  CHECK(refusal("", seconds) == "t.csv:1:1: there is no column 'node'; there are none");
  const auto whole = [](const CsvTable& table) {
    static_cast<void>(table.whole(0, "ranks", 1, 9));
  };
  for (const char* const cell : {"0", "10", "1.5", "", "x", "1e3"}) {
    CHECK(refusal(std::string("node,ranks\nn1,") + cell + "\n", whole) ==
          std::string("t.csv:2:4: ranks: '") + cell +
              "' is not valid; expected a whole number from 1 to 9");
  }
  const auto number = [](const CsvTable& table) {
    static_cast<void>(table.number(0, "s", "a time"));
  };
  CHECK(refusal("s\ninf\n", number) == "t.csv:2:1: s: 'inf' is not valid; expected a time");
}

}  // namespace thinwire::inline base
