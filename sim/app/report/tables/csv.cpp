#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string cell(const Json& record, const std::string& key) {
  const auto found = record.find(key);
  if (found == record.end() || found->is_null()) return {};
  if (found->is_number_float() && !std::isfinite(found->get<double>())) {
    return fmt::format("{}", found->get<double>());  // JSON has no word for it
  }
  return quoted(found->is_string() ? found->get<std::string>() : found->dump());
}

}  // namespace

std::string to_csv(const std::vector<Json>& records) {
  std::vector<std::string> header;
  for (const Json& record : records) {
    for (const auto& item : record.items()) {
      if (std::ranges::find(header, item.key()) == header.end()) header.push_back(item.key());
    }
  }
  if (header.empty()) return {};
  const auto line = [&](auto text_of) {
    std::string row;
    for (const std::string& key : header) row += text_of(key) + ',';
    row.back() = '\n';
    return row;
  };
  std::string csv = line(quoted);
  for (const Json& record : records) {
    csv += line([&](const std::string& key) { return cell(record, key); });
  }
  return csv;
}

}  // namespace thinwire::report
