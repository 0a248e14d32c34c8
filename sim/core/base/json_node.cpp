#include "sim/core/base/json_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/base/checked.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::inline base {

namespace {

/// The JSON text of a value, cut to 60 characters.
std::string json_excerpt(const Json& value) {
  constexpr std::size_t kLongest = 60;
  const bool long_text = value.is_string() && value.get_ref<const std::string&>().size() > kLongest;
  std::string text =
      (long_text ? Json(value.get_ref<const std::string&>().substr(0, kLongest)) : value)
          .dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

/// Makes the document, and refuses what a reader would not survive or would lose.
class StrictParser : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  StrictParser(Json& document, const std::string& origin)
      : json_sax_dom_parser(document), origin_(origin) {}

  bool start_object(std::size_t size) {
    enter();
    return json_sax_dom_parser::start_object(size);
  }
  bool start_array(std::size_t size) {
    enter();
    return json_sax_dom_parser::start_array(size);
  }
  bool key(std::string& name) {
    // The document, too, looks through the keys of an object one by one.
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(levels_.back());
    const bool twice = std::find(first, keys_.end(), name) != keys_.end();
    keys_.push_back(name);
    if (twice) refuse(origin_, pointer(), "is there twice in one object");
    return json_sax_dom_parser::key(name);
  }
  bool end_object() {
    leave();
    return json_sax_dom_parser::end_object();
  }
  bool end_array() {
    leave();
    return json_sax_dom_parser::end_array();
  }

 private:
  void enter() {
    constexpr std::size_t kDeepest = 100;
    levels_.push_back(keys_.size());
    if (levels_.size() <= kDeepest) return;
    throw InputError(fmt::format("{}: is nested deeper than {} levels", origin_, kDeepest));
  }
  void leave() {
    keys_.resize(levels_.back());
    levels_.pop_back();
  }
  /// The last key of each level.
  [[nodiscard]] std::string pointer() const {
    std::string pointer;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const std::size_t end = i + 1 < levels_.size() ? levels_[i + 1] : keys_.size();
      const bool has_keys = end > levels_[i] && !keys_[end - 1].empty();
      if (has_keys) pointer += "/" + escaped_key(keys_[end - 1]);
    }
    return pointer;
  }

  const std::string& origin_;
  std::vector<std::string> keys_;    // of all levels
  std::vector<std::size_t> levels_;  // the first key of each
};

}  // namespace

Json parse_json(std::string_view text, const std::string& origin, bool comments) {
  Json document;
  StrictParser parser(document, origin);
  try {
    Json::sax_parse(text, &parser, nlohmann::detail::input_format_t::json, true, comments);
  } catch (const Json::out_of_range&) {
    throw InputError(fmt::format("{}: a number is too large", origin));
  }
  return document;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json read_json(const std::string& path) {
  const std::string text = read_text(path, kMostConfigBytes);
  try {
    return parse_json(text, path, true);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t line_start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    // The library's text begins with names and places of its own.
    const std::string why = error.what();
    const std::size_t begin = why.find(": ");
    throw InputError(fmt::format("{}:{}:{}: not JSON: {}", path, line, at - line_start + 1,
                                 why.substr(begin == std::string::npos ? 0 : begin + 2, 160)));
  }
}

void refuse(const std::string& path, const std::string& pointer, const std::string& what) {
  throw InputError(fmt::format("{}: {}: {}", path, excerpt(pointer), what));
}

void refuse_value(const std::string& path, const std::string& pointer, const std::string& value,
                  const std::string& wanted) {
  refuse(path, pointer, fmt::format("{} is not valid; expected {}", value, wanted));
}

std::string escaped_key(const std::string& key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void JsonNode::be_object(std::span<const std::string_view> keys) const {
  if (!value_->is_object()) wrong("an object");
  for (const auto& item : value_->items()) {
    if (std::ranges::find(keys, item.key()) != keys.end()) continue;
    const std::vector<std::string> known(keys.begin(), keys.end());
    refuse(*path_, pointer_ + "/" + escaped_key(item.key()),
           fmt::format("unknown key '{}'{}", excerpt(item.key()), did_you_mean(item.key(), known)));
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
  if (!std::isfinite(value)) {
    refuse(*path_, pointer(), fmt::format("{} is not a finite number", value));
  }
  if (value < least) wrong(fmt::format("a number, at least {}", least));
  return value;
}

std::int64_t JsonNode::whole() const {
  if (!value_->is_number_integer()) wrong("a whole number");
  // The library makes negative numbers of 2^63 and more.
  const bool beyond = value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestSize);
  const auto value = value_->get<std::int64_t>();
  if (beyond || value > kLargestSize || value < -kLargestSize) {
    wrong(fmt::format("a whole number, at most {}", kLargestSize));
  }
  return value;
}

std::int64_t JsonNode::whole_from(std::int64_t least) const {
  const std::int64_t value = whole();
  if (value < least) wrong(fmt::format("a whole number, at least {}", least));
  return value;
}

bool JsonNode::flag() const {
  if (!value_->is_boolean()) wrong("true or false");
  return value_->get<bool>();
}

std::string JsonNode::text() const {
  if (!value_->is_string()) wrong("a text");
  return value_->get<std::string>();
}

void JsonNode::wrong(const std::string& wanted) const {
  refuse_value(*path_, pointer(), json_excerpt(*value_), wanted);
}

}  // namespace thinwire::inline base
