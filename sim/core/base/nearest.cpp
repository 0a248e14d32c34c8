#include "sim/core/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace thinwire::inline base {

namespace {

/// Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

/// A name without the differences that people overlook: case, '_', '-' and leading "--".
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

/// Whether a word is one of those that make up a name: "ring" of "dense_ring".
bool is_word_of(std::string_view word, std::string_view name) {
  const auto borders = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; };
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || borders(name[at - 1])) && (end == name.size() || borders(name[end]))) {
      return true;
    }
  }
  return false;
}

/// The names that have the given word among theirs, if there are several and none is the word or one
/// letter from it.
std::vector<std::string> family(std::string_view given, std::span<const std::string> known) {
  std::vector<std::string> found;
  const std::string word = plain(given);
  if (word.size() < 3) return found;
  for (const std::string& name : known) {
    if (edit_distance(plain(name), word) <= 1) return {};
    if (is_word_of(word, name)) found.push_back(name);
  }
  constexpr std::size_t kMost = 16;
  return found.size() < 2 || found.size() > kMost ? std::vector<std::string>() : found;
}

}  // namespace

std::string did_you_mean(std::string_view given, std::span<const std::string> known) {
  if (known.empty()) return "; there are none";
  constexpr std::size_t kLongestName = 200;
  if (given.size() > kLongestName) return fmt::format("; known are {}", fmt::join(known, ", "));
  if (const std::vector<std::string> several = family(given, known); !several.empty()) {
    return fmt::format("; did you mean one of {}?", fmt::join(several, ", "));
  }
  const std::string wanted = plain(given);
  const auto part_of = [&](const std::string& name) {
    return wanted.size() >= 3 && plain(name).find(wanted) != std::string::npos;
  };
  const auto distance = [&](const std::string& name) { return edit_distance(wanted, plain(name)); };
  // A name that contains the given one comes before any other.
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return std::pair(!part_of(a), distance(a)) < std::pair(!part_of(b), distance(b));
      });
  const std::size_t longer = std::max(wanted.size(), plain(*nearest).size());
  if (part_of(*nearest) || 3 * distance(*nearest) <= longer) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

}  // namespace thinwire::inline base
