#include "sim/app/studies/validate/measured/pasted.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "sim/app/studies/validate/measured/formats.hpp"

namespace thinwire::studies {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The words of a line without the '#' before it, or the '#'s of IMB before the first two words.
std::vector<std::string> plain_words(std::string_view line) {
  std::vector<std::string> words;
  for (const Token& token : tokens_of(line)) {
    std::string_view word = token.text;
    if (words.size() < 2 && word.starts_with('#')) word.remove_prefix(1);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

bool begins_with(const std::vector<std::string>& words, std::string_view first,
                 std::string_view second) {
  return words.size() > 1 && words[0] == first && words[1] == second;
}

/// Whether a line without a tag is the heading of a table, with or without its '#'.
bool is_heading(std::string_view line) {
  const std::vector<std::string> words = plain_words(line);
  return begins_with(words, "size", "count") || begins_with(words, "OSU", "MPI") ||
         (words.size() > 2 && words[0] == "OSU" && words[1].starts_with("MPI-")) ||
         begins_with(words, "bytes", "repetitions");
}

/// What stands before the heading on its line; empty where that is nothing but blanks.
std::string_view tag_before_heading(std::string_view line) {
  for (const Token& token : tokens_of(line)) {
    std::size_t at = token.column - 1;
    // A tag may end in the middle of a word: "[1,0]<stdout>:#".
    const std::size_t hash = token.text.find('#');
    if (hash != std::string_view::npos) at += hash;
    if (!is_heading(line.substr(at))) continue;
    std::string_view tag = line.substr(0, at);
    // The tag keeps at most one of the blanks behind it.
    while (tag.size() > 1 && is_blank(tag.back()) && is_blank(tag[tag.size() - 2])) {
      tag.remove_suffix(1);
    }
    return std::ranges::all_of(tag, is_blank) ? std::string_view() : tag;
  }
  return {};
}

/// How long the tag of a line is that differs from `tag` in its numbers at most; 0 if it has none.
std::size_t tag_length(std::string_view line, std::string_view tag) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tag.size();) {
    // "0: " is as wide as " 10: " where the launcher aligns them.
    if (is_digit(tag[i])) {
      const std::size_t begin = at;
      while (i < tag.size() && is_digit(tag[i])) ++i;
      while (at < line.size() && is_digit(line[at])) ++at;
      if (at == begin) return 0;
    } else if (is_blank(tag[i]) && (i == 0 || i + 1 == tag.size())) {
      // An editor may have cut the blanks at the ends of lines.
      if (i == 0) {
        while (i < tag.size() && is_blank(tag[i])) ++i;
        while (at < line.size() && is_blank(line[at])) ++at;
      } else {
        ++i;
        if (at < line.size() && is_blank(line[at])) ++at;
      }
    } else {
      if (at == line.size() || line[at] != tag[i]) return 0;
      ++i;
      ++at;
    }
  }
  return at;
}

/// Whether the benchmarks print a line, which has lost it, with a '#'.
bool had_hash(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  return begins_with(words, "size", "count") || begins_with(words, "(B)", "(elements)") ||
         (words[0] == "Rank" && std::ranges::find(words, "on") != words.end()) ||
         words[0] == "OSU" || begins_with(words, "Collective", "test") ||
         begins_with(words, "Out", "of") || words[0] == "Benchmarking" ||
         (words[0] == "Size" && std::ranges::any_of(words, [](const std::string& word) {
            return word.starts_with("Latency");
          }));
}

/// The line with the '#' that it has lost. A '#' that a blank replaced goes in the place of that.
std::string with_hash(std::string_view line, bool blank_for_hash) {
  const std::vector<std::string> words = plain_words(line);
  if (begins_with(words, "bytes", "repetitions")) {
    std::string made = "#bytes #repetitions";
    for (std::size_t i = 2; i < words.size(); ++i) made += " " + words[i];
    return made;
  }
  if (words.size() > 1 && words[0] == "processes") {
    std::string made = "# #processes";
    for (std::size_t i = 1; i < words.size(); ++i) made += " " + words[i];
    return made;
  }
  if (!had_hash(words)) return std::string(line);
  if (!line.empty() && is_blank(line[0]) && blank_for_hash) line.remove_prefix(1);
  const bool apart = !line.empty() && is_blank(line[0]);
  return (apart ? "#" : "# ") + std::string(line);
}

/// Whether a blank stands where the '#' of nccl-tests' heading was: then the ends of "size" and of the
/// sizes below it are in one column.
bool has_blank_for_hash(const std::vector<std::string>& lines, std::size_t heading) {
  const std::vector<Token> names = tokens_of(lines[heading]);
  for (std::size_t i = heading + 1; i < lines.size(); ++i) {
    const std::vector<Token> row = tokens_of(lines[i]);
    if (row.size() < 5 || !std::ranges::all_of(row[0].text, is_digit)) continue;
    return row[0].column + row[0].text.size() == names[0].column + names[0].text.size();
  }
  return true;
}

}  // namespace

std::string as_printed(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of_text(text)) lines.emplace_back(line);
  std::size_t heading = 0;
  std::string tag;
  for (; heading < lines.size(); ++heading) {
    tag = tag_before_heading(lines[heading]);
    if (!tag.empty() || is_heading(lines[heading])) break;
  }
  if (heading == lines.size()) return std::string(text);
  if (!tag.empty()) {
    for (std::string& line : lines) line.erase(0, tag_length(line, tag));
  }
  const auto size = std::ranges::find_if(lines, [](const std::string& line) {
    return begins_with(plain_words(line), "size", "count");
  });
  const bool blank = size == lines.end() ||
                     has_blank_for_hash(lines, static_cast<std::size_t>(size - lines.begin()));
  for (std::string& line : lines) {
    const std::vector<Token> words = tokens_of(line);
    if (words.empty()) continue;
    const bool has_hash = words[0].text.starts_with('#') && words[0].text != "#processes";
    if (!has_hash) line = with_hash(line, blank);
  }
  std::string made;
  for (const std::string& line : lines) made += line + "\n";
  return made;
}

}  // namespace thinwire::studies
