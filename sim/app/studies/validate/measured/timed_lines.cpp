#include "sim/app/studies/validate/measured/timed_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "sim/core/base/checked.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::studies {

namespace {

constexpr std::int64_t kWordBytes = 4;

/// The seconds in a unit of time, or nothing.
std::optional<double> seconds_in(std::string_view unit) {
  if (unit == "s") return 1.0;
  if (unit == "ms") return 1e-3;
  if (unit == "us") return 1e-6;
  if (unit == "ns") return 1e-9;
  return std::nullopt;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (true) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) return tokens;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    tokens.push_back({line.substr(at, end - at), at + 1});
    at = end;
  }
}

std::vector<std::string_view> lines_of_text(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_timed(const std::vector<Token>& line, std::size_t columns) {
  const auto number = [](const Token& token) {
    return parse_number<double>(token.text).has_value();
  };
  if (line.empty()) return false;
  return number(line[0]) ||
         (line.size() >= columns && std::all_of(line.begin() + 1, line.end(), number));
}

bool is_time(double seconds) {
  constexpr double kLongest = 1e9;
  return seconds > 0 && std::isnormal(seconds) && seconds <= kLongest;
}

void take_blocks(MeasuredRow& row, std::int64_t ranks) {
  const auto all = checked_product(row.elements, ranks);
  if (!all || *all > kLargestSize) {
    throw InputError(fmt::format("{}: {} blocks of {} components are more than {}", row.place,
                                 ranks, row.elements, kLargestSize));
  }
  row.elements = *all;
}

double TimedLines::unit_at(int line, const Token& token) const {
  const std::size_t open = token.text.find('(');
  const std::size_t close = token.text.find(')', open);
  if (open != std::string_view::npos && close != std::string_view::npos) {
    if (const auto unit = seconds_in(token.text.substr(open + 1, close - open - 1))) return *unit;
  }
  refuse_at(file_.path, line, token.column,
            fmt::format("'{}': unknown unit of time; known are (s), (ms), (us) and (ns)",
                        excerpt(token.text)));
}

void TimedLines::add(int line, const std::vector<Token>& tokens, std::size_t bytes_at,
                     std::size_t time_at, double unit) {
  const std::size_t last = std::max(bytes_at, time_at);
  if (tokens.size() <= last) {
    refuse_at(file_.path, line, tokens.back().column + tokens.back().text.size(),
              fmt::format("the line has {} words; wanted are {} at least, as in the heading",
                          tokens.size(), last + 1));
  }
  const auto bytes = parse_number<std::int64_t>(tokens[bytes_at].text);
  if (!bytes || *bytes < 0 || *bytes > kLargestSize) {
    refuse_at(file_.path, line, tokens[bytes_at].column,
              fmt::format("'{}' is not valid; expected a number of bytes, at most {}",
                          excerpt(tokens[bytes_at].text), kLargestSize));
  }
  if (*bytes == 0) return;
  const auto time = parse_number<double>(tokens[time_at].text);
  if (!time || !is_time(*time * unit)) {
    refuse_at(file_.path, line, tokens[time_at].column,
              fmt::format("'{}' is not valid; expected a time above 0, at most 1e9 s",
                          excerpt(tokens[time_at].text)));
  }
  lines_.push_back({line, *bytes, *time * unit});
}

std::vector<MeasuredRow> TimedLines::rows(const Said& said) const {
  if (lines_.empty()) throw InputError("{}: holds no measured times", file_.path);
  need(said);
  MeasuredRow common;
  common.machine = fact("machine", "");
  common.run = fact("run", "");
  common.test = fact("test", "");
  common.library = fact("library", said.library);
  common.collective = fact("collective", said.collective);
  common.algorithm = file_.fact("algorithm");
  if (common.algorithm.empty()) common.algorithm = said.algorithm;
  common.device = said.device;
  const std::string gpu = fact("gpu", said.gpu);
  if (gpu != "yes" && gpu != "no") wrong_fact("gpu", gpu, "yes or no");
  common.gpu = gpu == "yes";
  common.nodes = static_cast<int>(number_fact("nodes", said.nodes, 1 << 20));
  common.tasks_per_node =
      static_cast<int>(number_fact("tasks_per_node", said.tasks_per_node, 1 << 10));
  if (file_.facts.contains("segment")) common.segment = number_fact("segment", {}, INT32_MAX);
  if (std::ranges::find(known_collectives(), common.collective) == known_collectives().end()) {
    wrong_fact("collective", common.collective,
               fmt::format("{}", fmt::join(known_collectives(), ", ")));
  }
  std::vector<MeasuredRow> all;
  for (const Line& line : lines_) {
    MeasuredRow& row = all.emplace_back(common);
    row.elements = line.bytes % kWordBytes == 0 ? line.bytes / kWordBytes : 0;
    row.seconds = line.seconds;
    row.place = fmt::format("{}:{}", file_.path, line.number);
  }
  return all;
}

void TimedLines::wrong_fact(const std::string& name, const std::string& value,
                            const std::string& wanted) const {
  throw InputError("{}: {}={} is not valid; expected {}", file_.path, name, excerpt(value), wanted);
}

void TimedLines::need(const Said& said) const {
  std::vector<std::string> missing;
  std::string given;
  for (const auto& [name, in_text] :
       {std::pair{"machine", false}, std::pair{"collective", !said.collective.empty()},
        std::pair{"nodes", said.nodes.has_value()},
        std::pair{"tasks_per_node", said.tasks_per_node.has_value()}}) {
    if (in_text || !file_.fact(name).empty()) continue;
    missing.emplace_back(name);
    given += fmt::format(",{}=...", name);
  }
  if (missing.empty()) return;
  throw InputError("{}: the text does not say: {}; give it as in {}{}", file_.path,
                   fmt::join(missing, ", "), file_.path, given);
}

std::string TimedLines::fact(const std::string& name, const std::string& in_text) const {
  const auto given = file_.facts.find(name);
  if (given == file_.facts.end()) return in_text.empty() ? file_.fact(name) : in_text;
  if (!in_text.empty() && in_text != given->second) {
    throw InputError("{}: {}={} contradicts the text, which says {}", file_.path, name,
                     excerpt(given->second), excerpt(in_text));
  }
  return given->second;
}

std::int64_t TimedLines::number_fact(const std::string& name, std::optional<std::int64_t> in_text,
                                     std::int64_t most) const {
  const std::string text = fact(name, in_text ? std::to_string(*in_text) : "");
  const auto value = parse_number<std::int64_t>(text);
  if (!value || *value < 1 || *value > most) {
    wrong_fact(name, text, fmt::format("a whole number from 1 to {}", most));
  }
  return *value;
}

}  // namespace thinwire::studies
