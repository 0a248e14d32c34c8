#include "sim/core/base/json_node.hpp"

#include <doctest/doctest.h>

#include "sim/core/base/checked.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::inline base {

TEST_CASE("A document is refused that is nested too deeply, doubles a key or overflows a number") {
  const auto refusal = [](const std::string& text) {
    return test::error_of<InputError>([&] { static_cast<void>(parse_json(text, "file:3")); });
  };
  CHECK(parse_json(std::string(100, '[') + std::string(100, ']'), "file").is_array());
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open;
    CHECK(refusal(deep) == "file:3: is nested deeper than 100 levels");
  }
  CHECK(refusal(R"({"base": {"ranks": 2}, "base": {}})") ==
        "file:3: /base: is there twice in one object");
  CHECK(refusal(R"([{"a": {"b": 1, "c": 2, "b": 3}}])") ==
        "file:3: /a/b: is there twice in one object");
  CHECK(refusal("[1e999]") == "file:3: a number is too large");
  CHECK(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "file")[1]["a"]["a"] == 2);
}

TEST_CASE("Whole numbers of others are at most 2^60") {
  const std::string path = "file";
  const auto refusal = [&path](const Json& value) {
    return test::error_of<InputError>(
        [&] { static_cast<void>(JsonNode(path, value).whole_from(-5)); });
  };
  CHECK(JsonNode(path, Json(kLargestSize)).whole() == kLargestSize);
  CHECK(JsonNode(path, Json(-5)).whole_from(-5) == -5);
  CHECK(refusal(kLargestSize + 1) ==
        "file: /: 1152921504606846977 is not valid; expected a whole number, at most "
        "1152921504606846976");
  CHECK(refusal(UINT64_MAX).ends_with("a whole number, at most 1152921504606846976"));
  CHECK(refusal(INT64_MIN).ends_with("a whole number, at most 1152921504606846976"));
  CHECK(refusal(-6).ends_with("a whole number, at least -5"));
  CHECK(refusal(1.0).ends_with("a whole number"));
}

TEST_CASE("Bytes that are no UTF-8 do not keep a document from being written") {
  CHECK(dumped(Json{{"name", "n\xff"}}) == "{\"name\":\"n\xef\xbf\xbd\"}");
}

}  // namespace thinwire::inline base
