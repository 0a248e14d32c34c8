#include "sim/core/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

std::string did_you_mean(std::string_view given, std::span<const std::string> known) {
  if (known.empty()) return "; there are none";
  constexpr std::size_t kLongestName = 200;
  if (given.size() > kLongestName) return fmt::format("; known are {}", fmt::join(known, ", "));
  const auto part_of = [&](const std::string& name) {
    return given.size() >= 3 && name.find(given) != std::string::npos;
  };
  // A name that contains the given one comes before any other.
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return std::pair(!part_of(a), edit_distance(given, a)) <
               std::pair(!part_of(b), edit_distance(given, b));
      });
  const std::size_t longer = std::max(given.size(), nearest->size());
  if (part_of(*nearest) || 3 * edit_distance(given, *nearest) <= longer) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

}  // namespace thinwire::inline base
