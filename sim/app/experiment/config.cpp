#include "sim/app/experiment/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "sim/app/experiment/schema_text.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::experiment {

namespace {

using Plain = nlohmann::json;  // what the validator's adapter takes

Plain sweep_schema() { return Plain::parse(kSweepSchemaText); }

/// The part of the schema that describes points, with the definitions that it needs.
Plain point_schema() {
  Plain schema = sweep_schema();
  return schema.at("definitions").at("point");
}

const Plain& resolved(const Plain& node, const Plain& root) {
  if (!node.contains("$ref")) return node;
  const auto reference = node.at("$ref").get<std::string>();
  return root.at(Plain::json_pointer(reference.substr(1)));
}

/// The schema of the value to which `path` leads, where the schema says something about it.
const Plain* schema_at(const std::vector<std::string>& path, const Plain& root) {
  const Plain* node = &resolved(root, root);
  for (const std::string& key : path) {
    const auto properties = node->find("properties");
    if (properties != node->end() && properties->contains(key)) {
      node = &resolved(properties->at(key), root);
    } else if (node->contains("additionalProperties") &&
               node->at("additionalProperties").is_object()) {
      node = &node->at("additionalProperties");
    } else if (node->contains("items") && node->at("items").is_object()) {
      node = &resolved(node->at("items"), root);
    } else {
      return nullptr;
    }
  }
  return node;
}

std::string type_text(const Plain& type) {
  if (!type.is_array()) return type.get<std::string>();
  std::vector<std::string> names;
  for (const Plain& one : type) names.push_back(one.get<std::string>());
  return fmt::format("{}", fmt::join(names, " or "));
}

/// What the schema wants, in words.
std::string wanted(const Plain& schema) {
  std::string text = schema.contains("type") ? type_text(schema.at("type")) : "something else";
  if (schema.contains("enum")) text = fmt::format("one of {}", schema.at("enum").dump());
  if (schema.contains("minimum")) text += fmt::format(", at least {}", schema.at("minimum").dump());
  if (schema.contains("maximum")) text += fmt::format(", at most {}", schema.at("maximum").dump());
  if (schema.contains("pattern")) {
    text += fmt::format(" (text must match {})", schema.at("pattern").get<std::string>());
  }
  if (schema.contains("minItems")) text += ", not empty";
  if (schema.contains("description")) {
    text += fmt::format(": {}", schema.at("description").get<std::string>());
  }
  return text;
}

std::string pointer_of(const std::vector<std::string>& path) {
  std::string pointer;
  for (const std::string& key : path) pointer += "/" + key;
  return pointer.empty() ? "/" : pointer;
}

/// "<root>", "[machine]", "[alpha_s]" as keys.
std::vector<std::string> keys_of(const std::vector<std::string>& context) {
  std::vector<std::string> keys;
  for (const std::string& part : context) {
    if (part.size() > 2 && part.front() == '[') keys.push_back(part.substr(1, part.size() - 2));
  }
  return keys;
}

std::optional<std::string> unknown_key(const Plain& object, const Plain& schema,
                                       std::vector<std::string> path) {
  if (!object.is_object() || !schema.contains("properties")) return std::nullopt;
  std::vector<std::string> known;
  for (const auto& item : schema.at("properties").items()) {
    if (item.key() != "$schema") known.push_back(item.key());
  }
  for (const auto& item : object.items()) {
    if (schema.at("properties").contains(item.key())) continue;
    path.push_back(item.key());
    return fmt::format("{}: unknown key '{}'{}", pointer_of(path), item.key(),
                       did_you_mean(item.key(), known));
  }
  return std::nullopt;
}

std::string explain(const Plain& document, const Plain& schema_root,
                    const std::vector<std::string>& path) {
  Plain::json_pointer pointer;
  for (const std::string& key : path) pointer /= key;
  const Plain* schema = schema_at(path, schema_root);
  if (schema == nullptr) return fmt::format("{}: is not allowed here", pointer_of(path));
  const Plain& value = document.contains(pointer) ? document.at(pointer) : document;
  if (const auto text = unknown_key(value, *schema, path)) return *text;
  if (value.is_object() && schema->contains("required")) {
    for (const Plain& key : schema->at("required")) {
      if (!value.contains(key.get<std::string>())) {
        return fmt::format("{}: the key '{}' is missing", pointer_of(path), key.get<std::string>());
      }
    }
  }
  return fmt::format("{}: {} is not right; wanted is {}", pointer_of(path), value.dump(),
                     wanted(*schema));
}

void check(const Json& document, const Plain& schema_json, const std::string& origin) {
  const Plain plain = Plain::parse(document.dump());
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(plain), &results)) return;

  // The innermost complaint says most.
  std::vector<std::string> innermost;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    const std::vector<std::string> keys = keys_of(error.context);
    if (keys.size() >= innermost.size()) innermost = keys;
  }
  throw InputError(fmt::format("{}: {}", origin, explain(plain, schema_json, innermost)));
}

}  // namespace

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw InputError(fmt::format("{}: cannot be read; is there such a file?", path));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) throw InputError(fmt::format("{}: cannot be read to its end", path));
  try {
    return Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t line_start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    throw InputError(fmt::format("{}:{}:{}: not JSON: {}", path, line, at - line_start + 1,
                                 std::string(error.what()).substr(0, 160)));
  }
}

void check_point(const Json& point, const std::string& origin) {
  check(point, point_schema(), origin);
}

void check_sweep(const Json& sweep, const std::string& origin) {
  check(sweep, sweep_schema(), origin);
}

void set_by_path(Json& target, const std::string& path, const Json& value) {
  Json* node = &target;
  std::size_t begin = 0;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    node = &(*node)[path.substr(begin, dot - begin)];
    begin = dot + 1;
  }
  (*node)[path.substr(begin)] = value;
}

}  // namespace thinwire::experiment
