#include "sim/core/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace thinwire {

namespace {

/// Levenshtein's distance: insertions, deletions and substitutions from one to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, substituted}));
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view given, std::span<const std::string> known) {
  if (known.empty()) return {};
  const auto part_of = [&](const std::string& name) {
    return given.size() >= 3 && name.find(given) != std::string::npos;
  };
  // A name of which the given one is a part comes before any other.
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return std::pair(!part_of(a), edit_distance(given, a)) <
               std::pair(!part_of(b), edit_distance(given, b));
      });
  const std::size_t longer = std::max(given.size(), nearest->size());
  if (part_of(*nearest) || 2 * edit_distance(given, *nearest) <= longer + 1) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

}  // namespace thinwire
