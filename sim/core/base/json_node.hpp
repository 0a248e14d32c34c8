// Reads the JSON files that the program ships and users write. Error messages name the file, the
// JSON pointer, the value, and what would be right.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/base/json.hpp"

namespace thinwire::inline base {

/// Throws InputError that begins with `origin` for a document nested deeper than 100 levels, a key
/// that comes twice in one object and a number that is too large, and Json::parse_error for what is
/// no JSON.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& origin,
                              bool comments = false);
/// On one line. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string dumped(const Json& json);

/// Reads a JSON file, which may have comments. Throws InputError as parse_json does, and with the
/// file, the line and the column of a syntax error.
[[nodiscard]] Json read_json(const std::string& path);

/// Both throw InputError: "PATH: POINTER: ...".
[[noreturn]] void refuse(const std::string& path, const std::string& pointer,
                         const std::string& what);
[[noreturn]] void refuse_value(const std::string& path, const std::string& pointer,
                               const std::string& value, const std::string& wanted);

/// Escapes a key for use in a JSON pointer.
[[nodiscard]] std::string escaped_key(const std::string& key);

/// A value of a document together with its position. A node refers to the document and to its path,
/// which must outlive it. The members that check the value throw InputError.
class JsonNode {
 public:
  JsonNode(const std::string& path, const Json& value, std::string pointer = {})
      : path_(&path), value_(&value), pointer_(std::move(pointer)) {}

  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] const std::string& path() const { return *path_; }
  [[nodiscard]] std::string pointer() const { return pointer_.empty() ? "/" : pointer_; }

  /// Checks that the value is an object and that all its keys are among `keys`.
  void be_object(std::span<const std::string_view> keys) const;
  [[nodiscard]] bool has(const std::string& key) const { return value_->contains(key); }
  [[nodiscard]] JsonNode at(const std::string& key) const;
  [[nodiscard]] std::vector<JsonNode> elements() const;
  [[nodiscard]] double number() const;
  /// A finite number that is not below `least`.
  [[nodiscard]] double number_from(double least) const;
  [[nodiscard]] std::int64_t whole() const;
  [[nodiscard]] std::int64_t whole_from(std::int64_t least) const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] std::string text() const;

  [[noreturn]] void wrong(const std::string& wanted) const;

 private:
  const std::string* path_;
  const Json* value_;
  std::string pointer_;
};

}  // namespace thinwire::inline base
