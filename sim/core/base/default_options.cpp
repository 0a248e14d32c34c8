#include "sim/core/base/default_options.hpp"

#include <array>
#include <string_view>

namespace thinwire::inline base {

DefaultOptions read_default_options(const JsonNode& document) {
  DefaultOptions options;
  if (!document.has("options")) return options;
  const JsonNode node = document.at("options");
  node.be_object(std::array<std::string_view, 2>{"values", "source"});
  const JsonNode values = node.at("values");
  for (const auto& item : values.json().items()) {
    options.values[item.key()] = values.at(item.key()).whole_from(1);
  }
  options.source = node.at("source").text();
  return options;
}

}  // namespace thinwire::inline base
