#include "sim/core/base/printable.hpp"

#include <doctest/doctest.h>

namespace thinwire::inline base {

TEST_CASE("Control characters and what is no UTF-8 are escaped, and the rest is not") {
  CHECK(printable("plain µ é 漢 😀") == "plain µ é 漢 😀");
  CHECK(printable("a\nb\tc\x1b[31m\x7f") == "a\\nb\\tc\\x1b[31m\\x7f");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");  // a control character of two bytes
  CHECK(printable("").empty());
  CHECK(printable("\u200b\u202e\u2060\ufeff") ==
        "\\xe2\\x80\\x8b\\xe2\\x80\\xae\\xe2\\x81\\xa0\\xef\\xbb\\xbf");
  CHECK(printable("\u2013\u2026\u20ac\u00a0") == "\u2013\u2026\u20ac\u00a0");
}

TEST_CASE("Of a very long text the middle is left out") {
  const std::string shown = printable("begin" + std::string(10'000'000, 'x') + "end");
  CHECK(shown.size() < 2100);
  CHECK(shown.starts_with("beginxxx"));
  CHECK(shown.ends_with("xxxend"));
  CHECK(shown.find("x ... x") != std::string::npos);
}

TEST_CASE("UTF-8 has no longer forms than needed, no surrogates and nothing above U+10FFFF") {
  for (const char* text : {"", "a", "\u00e9", "\u6f22", "\xf4\x8f\xbf\xbf"}) CHECK(is_utf8(text));
  for (const char* text : {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "\xe6\xbc", "\xc3("}) {
    CHECK_FALSE(is_utf8(text));
  }
}

TEST_CASE("Of a long name a message repeats the ends") {
  CHECK(excerpt("oktopk\n") == "oktopk\\n");
  CHECK(excerpt(std::string(120, 'x')) == std::string(120, 'x'));
  CHECK(excerpt("a" + std::string(5000, 'x') + "b") ==
        "a" + std::string(59, 'x') + " ... " + std::string(59, 'x') + "b");
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "漢";
  CHECK(is_utf8(excerpt(wide)));
  CHECK(excerpt(wide).find("\\x") == std::string::npos);
  CHECK(excerpt(std::string(5000, '\x80')).size() < 1000);
}

}  // namespace thinwire::inline base
