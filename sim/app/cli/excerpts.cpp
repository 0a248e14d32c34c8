#include "sim/app/cli/excerpts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"

namespace thinwire::cli {

namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

/// Goes through a JSON document as far as its structure: what is no JSON has no places.
class JsonPlaces {
 public:
  explicit JsonPlaces(std::string_view text) : text_(text) {}

  /// The place of the value below `keys`, or of its key.
  std::size_t find(const std::vector<std::string>& keys, bool key) {
    std::size_t at_key = kNowhere;
    for (const std::string& wanted : keys) {
      skip_blanks();
      const bool object = next() == '{';
      if (!object && next() != '[') return kNowhere;
      ++at_;
      std::size_t index = 0;
      for (;; ++index) {
        skip_blanks();
        if (at_ >= text_.size() || next() == '}' || next() == ']') return kNowhere;
        at_key = at_;
        std::string name = std::to_string(index);
        if (object) {
          name = string();
          skip_blanks();
          ++at_;  // ':'
        }
        if (name == wanted) break;
        skip_value();
        skip_blanks();
        if (next() == ',') ++at_;
      }
    }
    skip_blanks();
    return key ? at_key : at_;
  }

 private:
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest.front())) != 0) {
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      } else {
        return;
      }
    }
  }
  /// Takes a string; of escapes it takes the sign behind the backslash.
  std::string string() {
    std::string value;
    for (++at_; at_ < text_.size() && next() != '"'; ++at_) {
      if (next() == '\\') ++at_;
      value += next();
    }
    ++at_;
    return value;
  }
  void skip_value() {
    int depth = 0;
    do {
      skip_blanks();
      if (at_ >= text_.size()) return;
      if (next() == '"') {
        static_cast<void>(string());
        continue;
      }
      if (next() == '{' || next() == '[') ++depth;
      if (next() == '}' || next() == ']') --depth;
      if (depth > 0 || next() == '}' || next() == ']') {
        ++at_;
        continue;
      }
      while (at_ < text_.size() && std::string_view(",}] \t\r\n").find(next()) == kNowhere) ++at_;
    } while (depth > 0);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// "/a~1b/0" as "a/b", "0".
std::vector<std::string> keys_of(std::string_view pointer) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      keys.emplace_back();
    } else if (pointer[i] == '~' && i + 1 < pointer.size()) {
      keys.back() += pointer[++i] == '1' ? '/' : '~';
    } else if (!keys.empty()) {
      keys.back() += pointer[i];
    }
  }
  if (keys == std::vector<std::string>{""}) keys.clear();
  return keys;
}

/// Where the element begins that has most of the names in a complaint, its own among them; of several
/// the last.
std::size_t place_of_names(std::string_view xml, const std::string& complaint) {
  static const std::regex kWord("[^\\s'\",;:()]+");
  std::vector<std::string> words;
  for (std::sregex_iterator word(complaint.begin(), complaint.end(), kWord), end; word != end;
       ++word) {
    std::string name = word->str();
    while (name.ends_with('.')) name.pop_back();
    words.push_back(name);
  }
  std::size_t place = kNowhere;
  std::ptrdiff_t most = 1;
  for (std::size_t at = xml.find('<'); at != kNowhere; at = xml.find('<', at + 1)) {
    const std::string_view element = xml.substr(at, xml.find('>', at) - at);
    if (element.starts_with("<!") || element.starts_with("<?")) continue;
    const std::string_view tag = element.substr(1, element.find_first_of(" \t\r\n/") - 1);
    auto named = std::ranges::count_if(words, [&](const std::string& name) {
      return element.find("\"" + name + "\"") != kNowhere;
    });
    if (named > 0 && std::ranges::find(words, tag) != words.end()) ++named;
    if (named < most) continue;
    most = named;
    place = at;
  }
  return place;
}

/// The line around a place, cut to what is read at a glance, and a caret below.
std::vector<std::string> line_with_caret(std::string_view text, std::size_t place) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kWidth = 88;
  const std::size_t before = text.rfind('\n', place == 0 ? 0 : place - 1);
  std::size_t begin = before == kNowhere || place == 0 ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', place), text.size());
  const auto number =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  if (place - begin > kBefore) begin = place - kBefore;
  std::string line(text.substr(begin, std::min(end - begin, kWidth)));
  for (char& c : line) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  const std::string label = fmt::format("{:5} | ", number);
  return {label + line,
          std::string(label.size() - 2, ' ') + "| " + std::string(place - begin, ' ') + "^"};
}

/// The place of a line and a column from 1; of column 0, where the line's first sign is.
std::size_t place_at(std::string_view text, std::size_t line, std::size_t column) {
  std::size_t at = 0;
  for (; line > 1; --line) {
    at = text.find('\n', at);
    if (at == kNowhere) return kNowhere;
    ++at;
  }
  const std::size_t end = std::min(text.find('\n', at), text.size());
  if (column > 0) return std::min(at + column - 1, end);
  return std::min(text.find_first_not_of(" \t\r", at), end);
}

std::size_t place_in(std::string_view text, const std::string& path, const std::string& where,
                     const std::string& said) {
  static const std::regex kLine("^:([0-9]{1,9})(?::([0-9]{1,9}))?$");
  static const std::regex kPointer("^(?:at [^/]*: )?(/[^\\s:]*)(?::|$)");
  std::smatch found;
  if (std::regex_match(where, found, kLine)) {
    return place_at(text, std::stoul(found[1]), found[2].matched ? std::stoul(found[2]) : 0);
  }
  if (std::regex_search(said, found, kPointer)) {
    const bool key = said.find("unknown key") != std::string::npos;
    for (const char* const above : {"", "/base"}) {
      const std::size_t place = place_of(text, above + found[1].str(), key);
      if (place != kNowhere) return place;
    }
    return kNowhere;
  }
  return path.ends_with(".xml") ? place_of_names(text, said) : kNowhere;
}

}  // namespace

std::size_t place_of(std::string_view json, std::string_view pointer, bool key) {
  const std::vector<std::string> keys = keys_of(pointer);
  return keys.empty() ? kNowhere : JsonPlaces(json).find(keys, key);
}

std::vector<std::string> excerpt_of(const std::string& error) {
  static const std::regex kFile("^([^\\s:][^:]*)((?::[0-9]+){0,2}): ");
  constexpr std::size_t kLongest = 10'000;  // of an expression's recursion
  std::smatch found;
  if (error.size() > kLongest || !std::regex_search(error, found, kFile)) return {};
  const std::string path = found[1];
  try {
    const std::string text = read_text_if_any(path, kMostConfigBytes);
    const std::size_t place = place_in(text, path, found[2], found.suffix());
    return place < text.size() ? line_with_caret(text, place) : std::vector<std::string>();
  } catch (const InputError&) {  // it cannot be read, which the error says
    return {};
  }
}

}  // namespace thinwire::cli
