#include "sim/core/base/json_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::inline base {

namespace {

/// The JSON text of a value, cut to 60 characters.
std::string excerpt(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

Json read_json(const std::string& path) {
  const std::string text = read_text(path);
  constexpr int kDeepest = 100;
  const auto limit = [&](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
    if (depth <= kDeepest) return true;
    throw InputError(fmt::format("{}: is nested deeper than {} levels", path, kDeepest));
  };
  try {
    return Json::parse(text, limit, true, true);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t line_start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    throw InputError(fmt::format("{}:{}:{}: not JSON: {}", path, line, at - line_start + 1,
                                 std::string(error.what()).substr(0, 160)));
  } catch (const Json::exception&) {
    throw InputError(fmt::format("{}: a number is too large", path));
  }
}

void refuse(const std::string& path, const std::string& pointer, const std::string& what) {
  throw InputError(fmt::format("{}: {}: {}", path, pointer, what));
}

void refuse_value(const std::string& path, const std::string& pointer, const std::string& value,
                  const std::string& wanted) {
  refuse(path, pointer, fmt::format("{} is not right; wanted is {}", value, wanted));
}

std::string escaped_key(const std::string& key) {
  return (Json::json_pointer() / key).to_string().substr(1);
}

void JsonNode::be_object(std::span<const std::string_view> keys) const {
  if (!value_->is_object()) wrong("an object");
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& item : value_->items()) {
    if (std::ranges::find(known, item.key()) != known.end()) continue;
    refuse(*path_, pointer_ + "/" + escaped_key(item.key()),
           fmt::format("unknown key '{}'{}", item.key(), did_you_mean(item.key(), known)));
  }
}

JsonNode JsonNode::at(const std::string& key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) {
    refuse(*path_, pointer(), fmt::format("the key '{}' is missing", key));
  }
  return {*path_, *found, pointer_ + "/" + escaped_key(key)};
}

std::vector<JsonNode> JsonNode::elements() const {
  if (!value_->is_array()) wrong("an array");
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->size());
  for (const Json& element : *value_) {
    nodes.emplace_back(*path_, element, fmt::format("{}/{}", pointer_, nodes.size()));
  }
  return nodes;
}

double JsonNode::number() const {
  if (!value_->is_number()) wrong("a number");
  return value_->get<double>();
}

double JsonNode::number_from(double least) const {
  const double value = number();
  if (!std::isfinite(value) || value < least) wrong(fmt::format("a number, at least {}", least));
  return value;
}

std::int64_t JsonNode::whole() const {
  // Larger numbers would come out negative.
  if (!value_->is_number_integer() ||
      (value_->is_number_unsigned() &&
       value_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())) {
    wrong("a whole number");
  }
  return value_->get<std::int64_t>();
}

std::int64_t JsonNode::whole_from(std::int64_t least) const {
  const std::int64_t value = whole();
  if (value < least) wrong(fmt::format("a whole number, at least {}", least));
  return value;
}

std::string JsonNode::text() const {
  if (!value_->is_string()) wrong("a text");
  return value_->get<std::string>();
}

void JsonNode::wrong(const std::string& wanted) const {
  refuse_value(*path_, pointer(), excerpt(*value_), wanted);
}

}  // namespace thinwire::inline base
