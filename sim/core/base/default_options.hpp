// Options of schemes that a file brings along: a paper's settings for its model.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/core/base/json_node.hpp"

namespace thinwire::inline base {

/// They hold where a point gives none.
struct DefaultOptions {
  std::map<std::string, std::int64_t> values;
  std::string source;
};

/// Reads the key "options" of a document, an object with "values" and "source"; none without it.
/// Throws InputError.
[[nodiscard]] DefaultOptions read_default_options(const JsonNode& document);

}  // namespace thinwire::inline base
